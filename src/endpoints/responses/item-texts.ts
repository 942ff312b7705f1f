import { fields, list, text, type Fields } from '../fields.js';
import { Streamed } from '../streamed.js';

/** The text of one output item, as far as it has been shown. */
export interface ItemText {
  readonly all: Streamed;
  /** What came since a part was last closed. */
  part: Streamed;
  /** The index of the part that was closed last. */
  closed?: unknown;
  /** Which of several carriers of the same words is read. */
  channel?: string;
}

/** The response object of an event that ends the answer. */
export function finalResponse({ type, response }: Fields): Fields | undefined {
  return response && /^response\.(completed|incomplete|failed|done)$/.test(text(type)) ? fields(response) : undefined;
}

/**
 * Puts together what deltas, `.done` events, items and the final response say of the same text, each of which may be
 * all that comes. Whole texts are compared with what has been shown of their item: parts are numbered anew with every
 * delta by some servers, and ids change.
 */
export class ItemTexts {
  readonly #items = new Map<unknown, ItemText>();
  readonly #keys = new Map<unknown, unknown>();
  readonly #all = new Streamed();
  readonly #emit: (piece: string) => void;
  #current: unknown = 0;

  constructor(emit: (piece: string) => void) {
    this.#emit = emit;
  }

  /** The item that an event speaks of; without an index, the one with its id, else the one that was opened last. */
  of({ output_index, item_id, item }: Fields): ItemText {
    const key = typeof output_index === 'number' ? output_index : (this.#keys.get(item_id) ?? this.#current);
    if (item) {
      this.#current = key;
      const id = text(fields(item).id);
      if (id) this.#keys.set(id, key);
    }
    let found = this.#items.get(key);
    if (!found) this.#items.set(key, (found = { all: new Streamed(), part: new Streamed() }));
    return found;
  }

  add(item: ItemText, piece: string): void {
    if (!piece) return;
    item.all.add(piece);
    item.part.add(piece);
    this.#all.add(piece);
    this.#emit(piece);
  }

  /** A part of the item, whole. Servers that do not keep parts apart send the item's whole text here. */
  part(item: ItemText, index: unknown, whole: string): void {
    if (!whole) return;
    if (item.all.begins(whole)) this.add(item, whole.slice(item.all.length));
    else if ((item.part.length || index !== item.closed) && item.part.begins(whole))
      this.add(item, whole.slice(item.part.length));
    item.part = new Streamed();
    item.closed = index;
  }

  /** The whole item. */
  item(item: ItemText, whole: string): void {
    if (item.all.begins(whole)) this.add(item, whole.slice(item.all.length));
  }

  /** All items, in their final state; `fallback` is what the response says of its text where it lists no items. */
  response({ output }: Fields, textOf: (item: Fields, channel?: string) => string, fallback = ''): void {
    const items = list(output).map(fields);
    const keys = items.map((item, position) => this.#keys.get(item.id) ?? position);
    const wholes = items.map((item, position) => textOf(item, this.#items.get(keys[position])?.channel));
    const whole = wholes.join('') || fallback;
    // Some servers leave items out of the final list, so that positions say little: first the answer as a whole.
    if (this.#all.begins(whole)) return this.#emitRest(whole);
    wholes.forEach((text, position) => {
      const known = this.#items.get(keys[position]);
      if (known) this.item(known, text);
      else if (![...this.#items.values()].some(({ all }) => all.length && all.begins(text)))
        this.add(this.of({}), text);
    });
  }

  #emitRest(whole: string): void {
    const rest = whole.slice(this.#all.length);
    this.#all.add(rest);
    if (rest) this.#emit(rest);
  }
}
