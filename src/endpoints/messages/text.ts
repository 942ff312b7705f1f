import type { Reader } from '../../concepts/concept.js';
import type { TextSink } from '../../concepts/text.js';
import { readBlocks } from './blocks.js';

export const messagesText = (sink: TextSink): Reader<object> => readBlocks(sink, 'text');
