import type { Reader } from '../../concepts/concept.js';
import type { TextSink } from '../../concepts/text.js';
import { readParts } from './parts.js';

export const responsesText = (sink: TextSink): Reader<object> => readParts(sink, 'output_text', 'text');
