import type { Reader } from '../../concepts/concept.js';
import { imageOf, type ImageSink } from '../../streamed-image.js';
import { fields, list } from '../fields.js';
import { choiceOf } from './choices.js';

/** Whole pictures in the deltas of choice 0: in a field of their own, or among the parts of the content. */
export function chatImages(sink: ImageSink): Reader<object> {
  let index = 0;
  return {
    next(event) {
      for (const item of list(fields(event).choices)) {
        const entry = fields(item);
        if (choiceOf(entry) !== 0) continue;
        const { images, content } = fields(entry.delta ?? entry.message);
        const parts = list(content).filter((part) => fields(part).type === 'image_url');
        for (const part of [...list(images), ...parts]) {
          const image = imageOf(fields(part), { partial: false, index });
          if (!image) continue;
          index++;
          sink(image);
        }
      }
    },
  };
}
