import { fields, list, text, type Fields } from '../fields.js';
import { insert, isEmpty, overlay, put, putAt } from '../snapshot.js';

/** Where an item keeps its parts, and what events call their places. */
type PartList = 'content' | 'summary';

interface Part {
  /** Its index on the wire. Numbers may be left out, or be used again once the part is closed. */
  readonly index: number;
  closed: boolean;
  /** Log probabilities that are not in the part yet: its list would be copied for each token. */
  logprobs?: unknown[];
}

/** One output item, from the events that speak of it. */
export class ItemFold {
  item: Fields;
  /** Its own done event has come. */
  done = false;
  /** Which of the names for the same reasoning are read: those that are seen first. */
  readonly channels: { content?: string; summary?: string } = {};
  readonly #parts: Record<PartList, Part[]> = { content: [], summary: [] };

  constructor(
    readonly index: number | undefined,
    item: Fields,
  ) {
    this.item = item.type === 'message' ? put(item, 'content', list(item.content)) : item;
    this.#count();
  }

  /** Takes what the item is said to be; what is missing from that, or empty, stays as it was streamed. */
  overlay(item: Fields): void {
    this.item = overlay(this.item, item);
    this.#count();
  }

  close(item: Fields): void {
    this.overlay(item);
    this.done = true;
    this.showLogprobs();
  }

  append(field: string, piece: string): void {
    if (piece !== '' && !this.done) this.item = put(this.item, field, text(this.item[field]) + piece);
  }

  set(field: string, value: unknown): void {
    if (!isEmpty(value)) this.item = put(this.item, field, value);
  }

  setStatus(status: string): void {
    if (!this.done) this.set('status', status);
  }

  openPart(name: PartList, index: unknown, value: unknown): void {
    const part = fields(value);
    if (this.done || text(part.type) === '') return;
    const place = this.#find(name, index, part.type);
    if (place === -1 || this.#parts[name][place]?.closed) this.#add(name, index, part);
    else this.#change(name, place, overlay(this.#part(name, place), part));
  }

  appendToPart(name: PartList, index: unknown, type: string, field: string, piece: string): void {
    if (piece === '' || this.done) return;
    const place = this.#openPlace(name, index, type, field);
    const part = this.#part(name, place);
    this.#change(name, place, put(part, field, text(part[field]) + piece));
  }

  closePart(name: PartList, index: unknown, value: Fields): void {
    let place = this.#find(name, index, value.type);
    if (place === -1) place = this.#findUncounted(name, value);
    if (place === -1) {
      if (this.done) return;
      place = this.#add(name, index, value);
    }
    this.#change(name, place, overlay(this.#part(name, place), value));
    const part = this.#parts[name][place] as Part;
    part.closed = true;
    this.#showLogprobs(name, place, part);
  }

  annotate(index: unknown, at: unknown, annotation: unknown): void {
    if (isEmpty(annotation) || this.done) return;
    const place = this.#openPlace('content', index, 'output_text', 'text');
    const part = this.#part('content', place);
    const annotations = list(part.annotations);
    const isKnown = typeof at === 'number' && at < annotations.length;
    const after = isKnown ? putAt(annotations, at, overlay(annotations[at], annotation)) : [...annotations, annotation];
    this.#change('content', place, put(part, 'annotations', after));
  }

  addLogprobs(index: unknown, logprobs: readonly unknown[]): void {
    const place = logprobs.length === 0 || this.done ? -1 : this.#find('content', index, 'output_text');
    const part = this.#parts.content[place];
    if (part === undefined) return;
    part.logprobs ??= [];
    for (const entry of logprobs) part.logprobs.push(entry);
  }

  showLogprobs(): void {
    this.#parts.content.forEach((part, place) => {
      this.#showLogprobs('content', place, part);
    });
  }

  #showLogprobs(name: PartList, place: number, part: Part): void {
    const shown = this.#part(name, place);
    if (part.logprobs && isEmpty(shown.logprobs)) this.#change(name, place, put(shown, 'logprobs', part.logprobs));
    delete part.logprobs;
  }

  #part(name: PartList, place: number): Fields {
    return fields(list(this.item[name])[place]);
  }

  #change(name: PartList, place: number, part: Fields): void {
    this.item = put(this.item, name, putAt(list(this.item[name]), place, part));
  }

  /** The part for a piece of text; after its end another one begins, though the index be the same. */
  #openPlace(name: PartList, index: unknown, type: string, field: string): number {
    const place = this.#find(name, index, type);
    if (place !== -1 && !this.#parts[name][place]?.closed) return place;
    const uncounted = place === -1 ? this.#findUncounted(name, { type }) : -1;
    if (uncounted !== -1) return uncounted;
    return this.#add(
      name,
      index,
      type === 'output_text' ? { type, [field]: '', annotations: [] } : { type, [field]: '' },
    );
  }

  #find(name: PartList, index: unknown, type: unknown): number {
    const parts = this.#parts[name];
    const wanted = index ?? parts.at(-1)?.index;
    let place = parts.length - 1;
    while (place >= 0 && (parts[place]?.index !== wanted || this.#part(name, place).type !== type)) place--;
    return place;
  }

  /** Some servers count the pieces of reasoning where they should count its parts: a piece continues what is open. */
  #findUncounted(name: PartList, value: Fields): number {
    const place = this.#parts[name].length - 1;
    const part = this.#part(name, place);
    const isSame = !this.#parts[name][place]?.closed || part.text === value.text;
    return value.type === 'reasoning_text' && part.type === value.type && isSame ? place : -1;
  }

  #add(name: PartList, index: unknown, part: Fields): number {
    const parts = this.#parts[name];
    const wireIndex = typeof index === 'number' ? index : (parts.at(-1)?.index ?? -1) + 1;
    const after = parts.findIndex((other) => other.index > wireIndex);
    const place = after === -1 ? parts.length : after;
    parts.splice(place, 0, { index: wireIndex, closed: false });
    this.item = put(this.item, name, insert(list(this.item[name]), place, part));
    return place;
  }

  /** Keeps count of the parts that an item brought along. */
  #count(): void {
    for (const name of ['content', 'summary'] as const) {
      const parts = this.#parts[name];
      const { length } = list(this.item[name]);
      if (parts.length > length) parts.length = length;
      while (parts.length < length) parts.push({ index: (parts.at(-1)?.index ?? -1) + 1, closed: false });
    }
  }
}
