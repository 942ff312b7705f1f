import type { Reader } from '../../concepts/concept.js';
import type { TextSink } from '../../concepts/text.js';
import { fields, list, text } from '../fields.js';
import { readChoices } from './choices.js';

/** Content is text, or parts of which some are (Mistral). */
function contentText(content: unknown): string {
  if (!Array.isArray(content)) return text(content);
  return list(content)
    .map((part) => (fields(part).type === 'text' ? text(fields(part).text) : text(part)))
    .join('');
}

export const chatText = (sink: TextSink): Reader<object> => readChoices(sink, ({ content }) => contentText(content));
