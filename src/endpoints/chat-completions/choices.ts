import type { Reader } from '../../concepts/concept.js';
import type { TextSink } from '../../concepts/text.js';
import { fields, list, type Fields } from '../fields.js';

/** The number of a choice; servers without `n` leave it out. */
export const choiceOf = (entry: Fields): number => (typeof entry.index === 'number' ? entry.index : 0);

/** Beyond this many choices a server counts something else in `index`, and is not followed at the cost of memory. */
export const MAX_CHOICES = 256;

/**
 * Reads one text out of each choice: the pieces of its deltas, or where there are none what a whole `message` holds.
 * Beside deltas the message only repeats them (Perplexity).
 */
export function readChoices(sink: TextSink, pieceOf: (message: Fields, choice: number) => string): Reader<object> {
  /** How much of its message has been shown; infinite once a delta came. */
  const shown = new Map<number, number>();
  return {
    next(event) {
      for (const item of list(fields(event).choices)) {
        const entry = fields(item);
        const { delta, message } = entry;
        const choice = choiceOf(entry);
        let piece = pieceOf(fields(delta), choice);
        if (piece) {
          if (shown.get(choice) !== Infinity && shown.size < MAX_CHOICES) shown.set(choice, Infinity);
        } else if (message && (!delta || entry.finish_reason)) {
          const whole = pieceOf(fields(message), choice);
          piece = whole.slice(shown.get(choice) ?? 0);
          if (piece) shown.set(choice, whole.length);
        }
        if (piece) sink(piece, choice);
      }
    },
  };
}
