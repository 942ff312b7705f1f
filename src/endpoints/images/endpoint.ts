import type { Endpoint, Progress, TerminalTracker } from '../endpoint.js';
import { errorIn } from '../failure.js';
import { fields, text } from '../fields.js';
import { imagesUsage } from './usage.js';
import type { ImageStreamEvent } from './wire.js';

function isToken(event: ImageStreamEvent): boolean {
  const { type, text: own } = fields(event);
  if (type === 'error' || type === 'ping' || type === 'keepalive') return false;
  return type === 'image_generation.text_chunk' ? text(own) !== '' : true;
}

class ImagesTracker implements TerminalTracker<ImageStreamEvent> {
  #missing: number;

  constructor(request: object) {
    this.#missing = Number(fields(request).n) || 1;
  }

  next(event: ImageStreamEvent): Progress {
    if (text(fields(event).type).endsWith('.completed')) this.#missing--;
    return this.#missing <= 0 ? 'enough' : undefined;
  }

  sentinel(): Progress {
    return this.#missing <= 0 ? 'done' : 'cut';
  }
}

export const imagesEndpoint: Endpoint<ImageStreamEvent> = {
  name: 'images',
  path: '/images',
  isToken,
  failure: errorIn,
  usage: imagesUsage,
  terminal: (request) => new ImagesTracker(request),
};
