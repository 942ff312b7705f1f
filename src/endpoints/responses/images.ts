import type { Reader } from '../../concepts/concept.js';
import { imageOf, type ImageSink } from '../../streamed-image.js';
import { fields, list, type Fields } from '../fields.js';
import { finalResponse } from './item-texts.js';

/** The image tool's pictures: partial ones in events, the final one in the item, which the final response repeats. */
export function responsesImages(sink: ImageSink): Reader<object> {
  /** The number of each image by its item's place in the output. */
  const indexes = new Map<unknown, number>();
  const finished = new Set<number>();
  const indexAt = (place: unknown): number => {
    const index = indexes.get(place) ?? indexes.size;
    indexes.set(place, index);
    return index;
  };
  const finish = (item: Fields, place: unknown): void => {
    if (item.type !== 'image_generation_call' || !item.result) return;
    const index = indexAt(place);
    if (finished.has(index)) return;
    finished.add(index);
    const image = imageOf(item, { partial: false, index });
    if (image) sink(image);
  };
  return {
    next(wire) {
      const event = fields(wire);
      if (event.type === 'response.image_generation_call.partial_image') {
        const { output_index, partial_image_index } = event;
        const image = imageOf(event, {
          partial: true,
          index: indexAt(output_index),
          ...(typeof partial_image_index === 'number' ? { partialIndex: partial_image_index } : {}),
        });
        if (image) sink(image);
      } else if (event.type === 'response.output_item.done') finish(fields(event.item), event.output_index);
      else if (finalResponse(event)) {
        const items = list(finalResponse(event)?.output).map(fields);
        // Some servers leave items out of the final list: its pictures are counted, not placed.
        const pictures = items.filter(({ type, result }) => type === 'image_generation_call' && result);
        const places = [...indexes.keys()];
        pictures.forEach((item, position) => finish(item, position < places.length ? places[position] : item));
      }
    },
  };
}
