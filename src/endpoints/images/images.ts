import type { Reader } from '../../concepts/concept.js';
import { imageOf, type ImageSink } from '../../streamed-image.js';
import { fields, text } from '../fields.js';

/**
 * Events of several images are told apart by their order alone: what comes until an image is completed belongs to it.
 * One service numbers its images, and finishes them with `partial_succeeded`.
 */
export function imagesImages(sink: ImageSink): Reader<object> {
  let completed = 0;
  return {
    next(wire) {
      const event = fields(wire);
      const [, phase] = text(event.type).split('.');
      const partial = phase === 'partial_image';
      if (!partial && phase !== 'completed' && phase !== 'partial_succeeded') return;
      const index = typeof event.image_index === 'number' ? event.image_index : completed;
      const { partial_image_index } = event;
      const image = imageOf(event, {
        partial,
        index,
        ...(partial && typeof partial_image_index === 'number' ? { partialIndex: partial_image_index } : {}),
      });
      if (!image) return;
      if (!partial) completed++;
      sink(image);
    },
  };
}
