import { hash } from './content/random.js';
import { string, type Json } from './json.js';

const LIMIT = 2000;

/** What Responses requests may refer back to: items by their id, conversations by the id of their last response. */
export class ConversationMemory {
  readonly #items = new Map<string, Json>();
  readonly #conversations = new Map<string, readonly Json[]>();

  item(id: string): Json | undefined {
    return this.#items.get(id);
  }

  conversation(responseId: string): readonly Json[] | undefined {
    return this.#conversations.get(responseId);
  }

  keep(responseId: string, input: readonly Json[], output: readonly Json[]): void {
    this.#conversations.set(responseId, [...input, ...output]);
    for (const item of output) this.#items.set(string(item['id']), item);
    for (const map of [this.#items, this.#conversations]) {
      for (const oldest of map.keys()) {
        if (map.size <= LIMIT) break;
        map.delete(oldest);
      }
    }
  }
}

/** Which prompt beginnings a `cache_control` mark has stored; a beginning is read from the cache when it comes again. */
export class PromptCache {
  readonly #known = new Set<number>();

  /** Tells whether the text was stored before, and stores it. */
  touch(text: string): boolean {
    const key = hash(text);
    if (this.#known.has(key)) return true;
    if (this.#known.size >= LIMIT) this.#known.clear();
    this.#known.add(key);
    return false;
  }
}
