import type { Reader } from '../../concepts/concept.js';
import type { TextSink } from '../../concepts/text.js';
import { fields, list, text, type Fields } from '../fields.js';
import { readChoices } from './choices.js';

type Channel = 'plain' | 'reasoning.text' | 'reasoning.summary';

/** Mistral's thinking parts: text, or parts themselves. */
function thinking(content: unknown): string {
  return list(content)
    .map((part) => fields(part).thinking)
    .map(
      (thought) =>
        text(thought) ||
        list(thought)
          .map((part) => text(fields(part).text))
          .join(''),
    )
    .join('');
}

function details(message: Fields, type: Channel): string {
  return list(message.reasoning_details)
    .map(fields)
    .map((detail) => (detail.type === type ? text(detail.text) || text(detail.summary) : ''))
    .join('');
}

const CHANNELS: readonly (readonly [Channel, (message: Fields) => string])[] = [
  [
    'plain',
    ({ reasoning_content, reasoning, content }) => text(reasoning_content) || text(reasoning) || thinking(content),
  ],
  ['reasoning.text', (message) => details(message, 'reasoning.text')],
  ['reasoning.summary', (message) => details(message, 'reasoning.summary')],
];

/**
 * The carriers of reasoning hold the same words where several are present: the first one in which a choice has any is
 * the one that is read to its end.
 */
export function chatReasoning(sink: TextSink): Reader<object> {
  const channels = new Map<number, Channel>();
  return readChoices(sink, (message, choice) => {
    const known = channels.get(choice);
    for (const [channel, read] of CHANNELS) {
      const piece = known === undefined || known === channel ? read(message) : '';
      if (!piece) continue;
      channels.set(choice, channel);
      return piece;
    }
    return '';
  });
}
