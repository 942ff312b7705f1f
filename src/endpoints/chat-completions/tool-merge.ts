import type { ToolCallDraft, ToolCallDrafts } from '../../tool-calls.js';
import { argumentsText, fields, nonblank, type Fields } from '../fields.js';

/** A call, and what is known of it that tells which pieces are its own. */
export interface ChatCall {
  readonly draft: ToolCallDraft;
  /** The id that its pieces come with, which another call may have had before. */
  wireId: string;
  index: number | undefined;
  /** Follows the text from the first time that someone asks whether it is whole. */
  json: Brackets | undefined;
}

/**
 * Puts the pieces of one choice's tool calls together. By the book a piece names its call by `index`; many servers leave
 * it out, give the same one to all calls, or change ids on the way, so that id, index, name and the text so far have to
 * be weighed.
 */
export class ChatToolMerge {
  /** In the order in which they began. */
  readonly calls: ChatCall[] = [];
  /** In the order in which they are shown: by index, if each has its own. */
  ordered: readonly ChatCall[] = this.calls;
  readonly #byIndex = new Map<number, ChatCall>();
  readonly #byId = new Map<string, ChatCall>();
  /** The calls' indexes rise, so that their order is that of their beginning. */
  #rising = true;

  constructor(private readonly drafts: ToolCallDrafts) {}

  /** Reads one entry of `tool_calls`. Returns the call that it belongs to, if it belongs to any. */
  next(entry: Fields): ChatCall | undefined {
    const isCustom = isCustomEntry(entry);
    const body = fields(isCustom ? entry.custom : entry.function);
    const piece = argumentsText(isCustom ? body.input : body.arguments);
    const name = nonblank(body.name);
    const id = nonblank(entry.id);
    const index = typeof entry.index === 'number' ? entry.index : undefined;

    let call = this.#find(id, name, index);
    if (call !== undefined && name !== '' && call.draft.name !== '') {
      if (name !== call.draft.name) {
        if (call.draft.text !== '') call = undefined;
      } else if (/^\s*[{[]/.test(piece) && isWhole(call)) {
        // The same call once more, or the next one of the same tool under an index and id that were used before.
        if (piece === call.draft.text) return call;
        call = undefined;
      }
    }
    if (call === undefined) {
      if (id === '' && name === '' && piece === '') return undefined;
      call = this.#begin();
    }
    this.#apply(call, id, name, index);
    if (isCustom) call.draft.set('custom', true);
    if (piece !== '') {
      call.draft.append(piece);
      call.json?.push(piece);
    }
    return call;
  }

  /** The key of a call that never got an id, with some of the answer's: unique among the turns of a conversation. */
  madeUpId(draft: ToolCallDraft, answer: string): string {
    let id = `${draft.key}_${answer.replace(/\W/g, '').slice(-12)}`;
    while (this.#byId.has(id)) id += '_';
    return id;
  }

  #find(id: string, name: string, index: number | undefined): ChatCall | undefined {
    const at = index === undefined ? undefined : this.#byIndex.get(index);
    if (id !== '') {
      const known = at?.wireId === id ? at : this.#byId.get(id);
      if (known !== undefined) return known;
    }
    if (at !== undefined) {
      if (id === '' || at.wireId === '') return at;
      // Another id on a used index is another call, unless the text breaks off: then ids are made up for each piece.
      return (name === '' || name === at.draft.name) && isBrokenOff(at) ? at : undefined;
    }
    const last = this.calls.at(-1);
    if (last === undefined) return undefined;
    if (index !== undefined) return id === '' && name === '' && last.index === undefined ? last : undefined;
    if (id === '' && name === '') return last;
    return (name === '' || (id === '' && name === last.draft.name)) && isBrokenOff(last) ? last : undefined;
  }

  #begin(): ChatCall {
    const call: ChatCall = { draft: this.drafts.add(), wireId: '', index: undefined, json: undefined };
    this.calls.push(call);
    return call;
  }

  #apply(call: ChatCall, id: string, name: string, index: number | undefined): void {
    const { draft } = call;
    if (id !== '' && call.wireId === '') {
      call.wireId = id;
      // No two calls may have one id: their results could not be told apart.
      if (!this.#byId.has(id)) draft.set('id', id);
      this.#byId.set(id, call);
    }
    if (name !== '' && name !== draft.name) {
      if (draft.name === '' || (draft.text === '' && name.startsWith(draft.name))) draft.set('name', name);
      else if (draft.text === '' && id === '') draft.set('name', draft.name + name);
    }
    if (index === undefined) {
      // Only at its beginning does it matter that a call has no index.
      if (this.calls.at(-1) === call && call.index === undefined && this.#rising) this.#order(call);
      return;
    }
    this.#byIndex.set(index, call);
    if (call.index === undefined) {
      call.index = index;
      this.#order(call);
    }
  }

  /** An index is never a place in an array: it may be any number. */
  #order(call: ChatCall): void {
    const { calls } = this;
    const before = calls.at(-2)?.index;
    this.#rising &&= calls.at(-1) === call && (calls.length === 1 || (before ?? Infinity) < (call.index ?? -Infinity));
    if (this.#rising) return;
    const byIndex = new Map<number, ChatCall>();
    for (const each of calls) if (each.index !== undefined) byIndex.set(each.index, each);
    const indexes = [...byIndex.keys()].sort((a, b) => a - b);
    this.ordered = indexes.length === calls.length ? indexes.map((index) => byIndex.get(index) as ChatCall) : calls;
    this.drafts.arrange(this.ordered.map(({ draft }) => draft));
  }
}

/** Some gateways put an empty `custom` beside the function. */
function isCustomEntry(entry: Fields): boolean {
  if (entry.custom == null) return false;
  if (entry.type === 'custom') return true;
  const custom = fields(entry.custom);
  return entry.function == null && (custom.name != null || custom.input != null);
}

const isBrokenOff = (call: ChatCall): boolean => call.draft.text !== '' && !isWhole(call);

function isWhole(call: ChatCall): boolean {
  if (call.json === undefined) {
    call.json = new Brackets();
    call.json.push(call.draft.text);
  }
  return call.json.closed;
}

/** Tells whether a JSON array or object has been closed, reading each piece once: parsing anew would be quadratic. */
class Brackets {
  closed = false;
  #depth = 0;
  #inString = false;
  #escaped = false;

  push(piece: string): void {
    for (let i = 0; i < piece.length; i++) {
      const code = piece.charCodeAt(i);
      if (this.#escaped) this.#escaped = false;
      else if (code === 0x22) this.#inString = !this.#inString;
      else if (this.#inString) this.#escaped = code === 0x5c;
      else if (code === 0x7b || code === 0x5b) this.#depth++;
      else if ((code === 0x7d || code === 0x5d) && --this.#depth === 0) this.closed = true;
    }
  }
}
