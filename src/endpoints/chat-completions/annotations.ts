import { AnnotationFilter } from '../../annotation.js';
import type { AnnotationSink } from '../../concepts/annotations.js';
import type { Reader } from '../../concepts/concept.js';
import { fields, list, text, type Fields } from '../fields.js';
import { choiceOf } from './choices.js';

/**
 * Deltas hold annotations, Mistral's content parts references. Perplexity and xAI list their sources at the top, and
 * repeat the whole list on chunk after chunk: each is told once, and not if an annotation has named it already.
 */
export function chatAnnotations(sink: AnnotationSink): Reader<object> {
  const urls = new Set<string>();
  const filter = new AnnotationFilter((annotation) => {
    if (annotation.url) urls.add(annotation.url);
    sink(annotation);
  });
  /** How long the list of sources was when it was read. */
  let listed = 0;

  const readSources = (citations: readonly unknown[], results: readonly unknown[]): void => {
    for (const citation of citations) {
      const url = text(citation) || text(fields(citation).url);
      if (!url || urls.has(url)) continue;
      const found = results.find((result) => fields(result).url === url);
      filter.add({ type: 'url_citation', ...fields(found ?? citation), url });
    }
  };

  const readMessage = ({ annotations, content }: Fields, choice: number): void => {
    for (const annotation of list(annotations)) filter.add(annotation, choice);
    for (const part of list(content)) if (fields(part).type === 'reference') filter.add(part, choice);
  };

  return {
    next(event) {
      const { choices, citations, search_results } = fields(event);
      for (const item of list(choices)) {
        const entry = fields(item);
        readMessage(fields(entry.delta ?? entry.message), choiceOf(entry));
      }
      const sources = list(citations).length ? list(citations) : list(search_results);
      if (sources.length === listed) return;
      listed = sources.length;
      readSources(sources, list(search_results));
    },
  };
}
