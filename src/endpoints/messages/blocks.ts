import type { Reader } from '../../concepts/concept.js';
import type { TextSink } from '../../concepts/text.js';
import { fields, list, text } from '../fields.js';

/**
 * Reads the text of one kind of content block: what it starts with and what its deltas add. `message_start` may hold
 * whole blocks already. A delta says by its own type what it is, so that one without a started block counts as well.
 */
export function readBlocks(sink: TextSink, kind: 'text' | 'thinking'): Reader<object> {
  const show = (holder: unknown, type: string): void => {
    const part = fields(holder);
    const piece = part.type === type ? text(part[kind]) : '';
    if (piece) sink(piece, 0);
  };
  const deltaType = `${kind}_delta`;
  return {
    next(wire) {
      const event = fields(wire);
      switch (event.type) {
        case 'content_block_delta':
          return show(event.delta, deltaType);
        case 'content_block_start':
          return show(event.content_block, kind);
        case 'message_start':
          for (const block of list(fields(event.message).content)) show(block, kind);
      }
    },
  };
}
