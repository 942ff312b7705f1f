import type { Reader } from '../../concepts/concept.js';
import type { TextSink } from '../../concepts/text.js';
import { fields, list, text, type Fields } from '../fields.js';
import { finalResponse, ItemTexts } from './item-texts.js';

/** The carriers of reasoning, by the middle of the event's type: raw, a summary, or gateways' own. */
const CHANNELS: Readonly<Record<string, string>> = {
  reasoning_text: 'raw',
  reasoning_part: 'raw',
  reasoning_summary_text: 'summary',
  reasoning_summary_part: 'summary',
  reasoning_summary: 'summary',
  reasoning: 'own',
  reasoning_content: 'own',
};

/** Text, or an object that holds it. */
const words = (value: unknown): string => text(value) || text(fields(value).text);

const joined = (parts: unknown, type: string): string =>
  list(parts)
    .map((part) => (fields(part).type === type ? text(fields(part).text) : ''))
    .join('');

/** What an item holds in the channel that was read; raw before a summary where none was. */
function itemText({ content, summary }: Fields, channel?: string): string {
  const raw = channel === 'summary' ? '' : joined(content, 'reasoning_text');
  return raw || (channel === 'raw' ? '' : joined(summary, 'summary_text'));
}

/** Reasoning comes in several channels that say the same: of each item, the one that is seen first is read. */
export function responsesReasoning(sink: TextSink): Reader<object> {
  const texts = new ItemTexts((piece) => sink(piece, 0));
  return {
    next(wire) {
      const event = fields(wire);
      const [, name = '', phase] = text(event.type).split('.');
      if (name === 'output_item') {
        const item = texts.of(event);
        return texts.item(item, itemText(fields(event.item), item.channel));
      }
      const response = finalResponse(event);
      if (response) return texts.response(response, itemText);
      const part = fields(event.part);
      const channel = name === 'content_part' && part.type === 'reasoning_text' ? 'raw' : CHANNELS[name];
      if (typeof channel !== 'string') return;

      const piece = words(event.delta) || words(event.text) || words(event.summary) || text(part.text);
      if (!piece) return;
      const item = texts.of(event);
      if ((item.channel ??= channel) !== channel) return;
      if (phase === 'delta') texts.add(item, piece);
      else texts.part(item, event.content_index ?? event.summary_index, piece);
    },
  };
}
