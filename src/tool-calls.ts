import { TextSoFar } from './text-so-far.js';
import type { ToolCall } from './tool-call.js';

/** A JSON value that is read as its text grows; {@link PartialJson} is one. */
export interface GrowingValue {
  push(piece: string): void;
  /** The value so far. */
  value(): unknown;
  /** No more text comes: whether it was JSON. */
  end(): boolean;
}

/** All calls of one subscription, in the order in which they are shown. */
export class ToolCallDrafts {
  /** A draft has changed since the last snapshot. */
  dirty = false;
  #drafts: ToolCallDraft[] = [];

  /** @param grow - Makes the partial values that `input` shows before a call is complete. */
  constructor(
    readonly choice: number,
    readonly grow?: () => GrowingValue,
  ) {}

  add(): ToolCallDraft {
    const draft = new ToolCallDraft(this, `call_${this.#drafts.length}`);
    this.#drafts.push(draft);
    this.dirty = true;
    return draft;
  }

  /** Shows some of the drafts in another order, in the places that they have among them. */
  arrange(some: readonly ToolCallDraft[]): void {
    const isMoved = new Set(some);
    const moved = some.values();
    this.#drafts = this.#drafts.map((draft) => (isMoved.has(draft) ? (moved.next().value ?? draft) : draft));
    this.dirty = true;
  }

  /** Calls that did not change since the last snapshot are the same objects. */
  snapshot(): readonly ToolCall[] {
    this.dirty = false;
    const drafts = this.#drafts;
    const calls: ToolCall[] = [];
    for (let i = 0; i < drafts.length; i++) calls.push((drafts[i] as ToolCallDraft).toToolCall());
    return calls;
  }
}

/** A call that is being put together. Once it is complete its text does not grow, but may still be corrected. */
export class ToolCallDraft {
  id = '';
  name = '';
  /** The text of a custom tool is no JSON. */
  custom = false;
  complete = false;
  #text = new TextSoFar();
  #valid = false;
  #input: unknown;
  #growing: GrowingValue | undefined;
  #call: ToolCall | undefined;

  constructor(
    private readonly drafts: ToolCallDrafts,
    readonly key: string,
  ) {}

  get text(): string {
    return this.#text.value;
  }

  set<Field extends 'id' | 'name' | 'custom'>(field: Field, value: this[Field]): void {
    if (this[field] === value) return;
    this[field] = value;
    this.#touch();
  }

  append(piece: string): void {
    if (piece === '') return;
    this.#text.add(piece);
    if (this.drafts.grow !== undefined) (this.#growing ??= this.drafts.grow()).push(piece);
    this.#touch();
  }

  /** Takes the whole text at once, if it says more than, or other than, the pieces did. */
  replace(text: string): void {
    if (text === '' || text === this.text) return;
    if (!this.complete && text.startsWith(this.text)) {
      this.append(text.slice(this.text.length));
    } else {
      this.#text = new TextSoFar();
      this.#growing = undefined;
      this.append(text);
    }
    if (this.complete) this.#complete(this.#parse());
  }

  /** There is a text, and it should be JSON. */
  hasJsonText(): boolean {
    return !this.custom && this.text.trim() !== '';
  }

  /** Completes the call if its text can be used as it stands. */
  completeIfValid(): boolean {
    if (!this.#parse()) return false;
    this.#complete(true);
    return true;
  }

  /** Completes the call, whatever its text is worth. */
  completeAnyway(): void {
    this.#complete(this.#parse());
  }

  toToolCall(): ToolCall {
    return (this.#call ??= Object.freeze({
      key: this.key,
      id: this.id,
      name: this.name,
      arguments: this.text,
      input: this.#valid ? this.#input : this.#partialInput(),
      complete: this.complete,
      valid: this.#valid,
      choice: this.drafts.choice,
    }));
  }

  #partialInput(): unknown {
    if (this.drafts.grow === undefined) return undefined;
    return this.custom ? this.text : this.#growing?.value();
  }

  #complete(valid: boolean): void {
    this.complete = true;
    this.#valid = valid;
    // The result of the call has to name it, and no id will come any more.
    if (this.id === '') this.id = this.key;
    this.#touch();
  }

  #parse(): boolean {
    if (this.custom) {
      this.#input = this.text;
      return true;
    }
    if (this.text.trim() === '') {
      this.#input = {};
      return true;
    }
    if (this.#growing !== undefined) {
      if (!this.#growing.end()) return false;
      this.#input = this.#growing.value();
      return true;
    }
    try {
      this.#input = JSON.parse(this.text);
      return true;
    } catch {
      return false;
    }
  }

  #touch(): void {
    this.#call = undefined;
    this.drafts.dirty = true;
  }
}
