import type { Reader } from '../../concepts/concept.js';
import type { TextSink } from '../../concepts/text.js';
import { fields, list, text, type Fields } from '../fields.js';
import { readChoices } from './choices.js';

type Channel = 'plain' | 'reasoning.text' | 'reasoning.summary';

/** Mistral's thinking parts: text, or parts themselves. */
function thinking(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return list(content)
    .map((part) => fields(part).thinking)
    .map((thought) => text(thought) || joined(thought, 'text', 'text'))
    .join('');
}

const joined = (entries: unknown, type: string, field: string): string =>
  list(entries)
    .map((entry) => (fields(entry).type === type ? text(fields(entry)[field]) : ''))
    .join('');

function read({ reasoning_content, reasoning, content, reasoning_details }: Fields, channel: Channel): string {
  if (channel === 'plain') return text(reasoning_content) || text(reasoning) || thinking(content);
  if (!Array.isArray(reasoning_details)) return '';
  return joined(reasoning_details, channel, channel === 'reasoning.text' ? 'text' : 'summary');
}

const CHANNELS: readonly Channel[] = ['plain', 'reasoning.text', 'reasoning.summary'];

/**
 * The carriers of reasoning hold the same words where several are present: the first one in which a choice has any is
 * the one that is read to its end.
 */
export function chatReasoning(sink: TextSink): Reader<object> {
  const channels = new Map<number, Channel>();
  return readChoices(sink, (message, choice) => {
    const known = channels.get(choice);
    if (known) return read(message, known);
    const found = CHANNELS.find((channel) => read(message, channel));
    if (!found) return '';
    channels.set(choice, found);
    return read(message, found);
  });
}
