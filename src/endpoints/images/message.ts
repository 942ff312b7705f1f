import type { ReaderFactory } from '../../concepts/concept.js';
import type { MessageSink } from '../../concepts/message.js';
import { fields } from '../fields.js';
import { isEmpty, overlay } from '../snapshot.js';
import type { ImageResult, ImagesResult, ImageStreamEvent } from './wire.js';

/** What the result says of each image; the rest of a completed event is said of all. */
const OF_IMAGE = ['b64_json', 'url', 'media_type', 'revised_prompt'];
const OF_ALL = ['size', 'quality', 'background', 'output_format', 'usage'];

/** The result holds final images alone: partial ones and words about them are passing. */
export const imagesMessage: ReaderFactory<ImageStreamEvent, MessageSink> = (sink) => {
  let result: ImagesResult = { data: [] };

  return {
    next(event) {
      if (typeof event.type !== 'string' || !event.type.endsWith('.completed')) return;
      const image = pick(event, OF_IMAGE) as ImageResult;
      const { created_at, created = created_at } = fields(event);
      result = { ...overlay(result, { created, ...pick(event, OF_ALL) }), data: [...result.data, image] };
      sink.snapshot(result);
    },
  };
};

function pick(event: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(event).filter(([name, value]) => names.includes(name) && !isEmpty(value)));
}
