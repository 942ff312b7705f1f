import type { Reader } from '../../concepts/concept.js';
import type { TextSink } from '../../concepts/text.js';
import { fields, list, text } from '../fields.js';
import { finalResponse, ItemTexts } from './item-texts.js';

/** Reads the content parts of one type, whose text is in `field`, and the events that are named after them. */
export function readParts(sink: TextSink, name: 'output_text' | 'refusal', field: 'text' | 'refusal'): Reader<object> {
  const texts = new ItemTexts((piece) => sink(piece, 0));
  const delta = `response.${name}.delta`;
  const done = `response.${name}.done`;
  const partText = (part: unknown): string => (fields(part).type === name ? text(fields(part)[field]) : '');
  const itemText = (item: unknown): string => list(fields(item).content).map(partText).join('');
  return {
    next(wire) {
      const event = fields(wire);
      switch (event.type) {
        case delta:
          return texts.add(texts.of(event), text(event.delta));
        case done:
          return texts.part(texts.of(event), event.content_index, text(event[field]));
        case 'response.content_part.added':
        case 'response.content_part.done':
          return texts.part(texts.of(event), event.content_index, partText(event.part));
        case 'response.output_item.added':
        case 'response.output_item.done':
          return texts.item(texts.of(event), itemText(event.item));
      }
      const response = finalResponse(event);
      if (response) texts.response(response, itemText, field === 'text' ? text(response.output_text) : '');
    },
  };
}
