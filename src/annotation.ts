import { fields, list, text, type Fields } from './endpoints/fields.js';

/** A citation, or another mark that a service puts on its answer, in one shape for every endpoint. */
export interface Annotation {
  /** The wire's word: `url_citation`, `file_citation`, `char_location`, `web_search_result_location`, … */
  readonly type: string;
  /** The page that is cited. */
  readonly url?: string;
  /** Of the page or document that is cited. */
  readonly title?: string;
  /** The service's id of the file or document that is cited. */
  readonly fileId?: string;
  readonly filename?: string;
  /** The words of the source. */
  readonly citedText?: string;
  /** Where in the text of the answer the annotated words begin. Places in the source are left to `raw`. */
  readonly startIndex?: number;
  /** Where they end, exclusively. */
  readonly endIndex?: number;
  /** The choice that it belongs to; 0 but for chat requests with `n` above 1. */
  readonly choice: number;
  /** The wire's own object, with whatever else it holds. */
  readonly raw: object;
}

/** The first that is a string with something in it. */
const words = (...values: readonly unknown[]): string | undefined => values.map(text).find(Boolean);

const count = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** An annotation of any endpoint; chat keeps the fields in an object of the annotation's own name. */
export function annotationOf(raw: Fields, choice: number): Annotation {
  const type = text(raw.type);
  const own = fields(raw[type]);
  const all = { ...raw, ...own };
  const source = text(all.source);
  const known = Object.entries({
    url: words(all.url, /^https?:/.test(source) ? source : undefined),
    title: words(all.title, all.document_title),
    fileId: words(all.file_id, all.document_id, own.hash),
    filename: words(all.filename, own.name),
    citedText: words(all.cited_text, all.content),
    startIndex: count(all.start_index),
    endIndex: count(all.end_index),
  }).filter(([, value]) => value !== undefined);
  return { type, ...Object.fromEntries(known), choice, raw };
}

const plain = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** Lets each annotation through once: closing events and final objects repeat what came before. */
export class AnnotationFilter {
  readonly #seen = new Set<string>();
  readonly #sink: (annotation: Annotation) => void;

  constructor(sink: (annotation: Annotation) => void) {
    this.#sink = sink;
  }

  add(value: unknown, choice = 0): void {
    const raw = fields(value);
    if (text(raw.type) === '') return;
    const annotation = annotationOf(raw, choice);
    const { type, url, fileId, filename, startIndex = raw.index, endIndex } = annotation;
    const source = url ?? fileId ?? filename ?? shallow({ ...raw, ...fields(raw[type]) });
    const key = shallow({ choice, type, source, startIndex, endIndex });
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#sink(annotation);
  }
}

/** Names what an object holds, without what lies deeper than a list: that may be too deep to walk. */
function shallow(object: Fields): string {
  return JSON.stringify(
    Object.entries(object).map(([name, value]) => [name, plain(value) ? value : list(value).filter(plain)]),
  );
}

/** The annotations that the parts of a content array hold under `name`. */
export const annotationsOf = (content: unknown, name: 'annotations' | 'citations'): readonly unknown[] =>
  list(content).flatMap((part) => list(fields(part)[name]));
