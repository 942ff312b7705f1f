import type { OperatorFunction } from 'rxjs';
import type { Concept } from '../concepts/concept.js';
import type { TextSink } from '../concepts/text.js';
import type { EndpointName } from '../events.js';
import { read } from './read.js';

/** Which of several answers to one request an operator reads. */
export interface ChoiceConfig {
  /**
   * The choice to follow, for chat requests with `n` above 1. The other endpoints have choice 0 alone.
   *
   * @defaultValue 0
   */
  readonly choice?: number | undefined;
}

/** The pieces of one choice's text, each as it comes. */
export function pieces<T extends object, N extends EndpointName>(
  concept: Concept<TextSink, N>,
  { choice = 0 }: ChoiceConfig = {},
): OperatorFunction<T, string> {
  return read(concept, (destination) => ({
    sink(piece: string, of: number) {
      if (of === choice) destination.next(piece);
    },
  }));
}
