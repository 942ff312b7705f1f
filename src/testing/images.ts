import type {
  ImageAttributes,
  ImageCompletedEvent,
  ImageErrorBody,
  ImageErrorEvent,
  ImagePartialEvent,
  ImageStreamEvent,
  ImageTextChunkEvent,
  ImageUsage,
} from '../endpoints/images/wire.js';
import { CREATED } from './turn.js';

export interface ImageTurnOptions extends ImageAttributes {
  /** The rough versions that come before the image, in base64; default none. */
  readonly partials?: readonly string[];
  readonly usage?: ImageUsage;
}

const ATTRIBUTES = {
  created_at: CREATED,
  size: '1024x1024',
  quality: 'high',
  background: 'opaque',
  output_format: 'png',
} as const;

function partial(base64: string, index = 0, fields: ImageAttributes = {}): ImagePartialEvent {
  const type = 'image_generation.partial_image';
  return { type, b64_json: base64, partial_image_index: index, ...ATTRIBUTES, ...fields };
}

function completed(base64: string, fields: Partial<ImageCompletedEvent> = {}): ImageCompletedEvent {
  return { type: 'image_generation.completed', b64_json: base64, ...ATTRIBUTES, ...fields };
}

function turn(image: string | readonly string[], options: ImageTurnOptions = {}): ImageStreamEvent[] {
  const { partials = [], usage, ...fields } = options;
  const finals = typeof image === 'string' ? [image] : image;
  return [
    ...partials.map((base64, index) => partial(base64, index, fields)),
    ...finals.map((base64, index) => {
      const isLast = index === finals.length - 1;
      return completed(base64, { ...fields, ...(isLast && usage ? { usage } : {}) });
    }),
  ];
}

/**
 * Builds events of `images`. The same call gives an equal event. Any text stands for an image's base64.
 *
 * @example
 * ```ts
 * import { images } from 'rx-llm/testing';
 *
 * const values = { p: images.partial('rough', 0), q: images.partial('finer', 1), i: images.completed('image') };
 * ```
 */
export const images = {
  /** A rough version; `index` counts from 0. */
  partial,
  /** The final image. */
  completed,
  /** Words that come with an image. */
  text: (text: string, phase: 'content' | 'reasoning' | 'draft' = 'content'): ImageTextChunkEvent => ({
    type: 'image_generation.text_chunk',
    phase,
    text,
  }),
  /** An error event; the client raises it as a `StreamEventError`. */
  error: (error: string | ImageErrorBody): ImageErrorEvent => ({
    type: 'error',
    error: typeof error === 'string' ? { code: 'server_error', message: error } : error,
  }),
  /** A whole answer: the partial images, then the final one, or several of them, the last with the usage. */
  turn,
} as const;
