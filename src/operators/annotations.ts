import type { OperatorFunction } from 'rxjs';
import type { Annotation } from '../annotation.js';
import { annotations as concept } from '../concepts/annotations.js';
import type { ChatLike, MessagesLike, ResponsesLike } from '../events.js';
import type { ChoiceConfig } from './choice.js';
import { read } from './read.js';

/**
 * Emits each citation as it comes, and other marks that a service puts on its answer: in one shape for every endpoint,
 * with the wire's own object attached.
 *
 * Each is emitted once, though lists of sources are repeated on chunk after chunk (Perplexity) and closing events repeat
 * what came before. Completes and errors with its source. Unsubscribing unsubscribes from the source, and so aborts the
 * request.
 *
 * ```text
 * source           --t----c----t--|     t: text, c: a delta that cites a page
 * annotations()    -------a-------|     a: { type: 'url_citation', url: 'https://example.org/tea', title: 'Tea', … }
 * ```
 *
 * @example
 * ```ts
 * import { annotations, createLlmClient } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .responses({ model: 'm', input: 'What is new?', tools: [{ type: 'web_search' }] })
 *   .pipe(annotations())
 *   .subscribe(({ url, title }) => console.log(title, url));
 * ```
 *
 * @param config - which choice to follow, where a chat request asked for several
 */
export function annotations({ choice = 0 }: ChoiceConfig = {}): OperatorFunction<
  ChatLike | ResponsesLike | MessagesLike,
  Annotation
> {
  return read(concept, (destination) => ({
    sink(annotation: Annotation) {
      if (annotation.choice === choice) destination.next(annotation);
    },
  }));
}
