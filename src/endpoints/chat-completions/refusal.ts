import type { Reader } from '../../concepts/concept.js';
import type { TextSink } from '../../concepts/text.js';
import { text } from '../fields.js';
import { readChoices } from './choices.js';

export const chatRefusal = (sink: TextSink): Reader<object> => readChoices(sink, ({ refusal }) => text(refusal));
