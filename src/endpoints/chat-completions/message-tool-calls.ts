import { ToolCallDrafts, type ToolCallDraft } from '../../tool-calls.js';
import { fields, type Fields } from '../fields.js';
import { keepList, overlay } from '../snapshot.js';
import type { ChatMessageToolCall } from './completion.js';
import { ChatToolMerge } from './tool-merge.js';

/** The `tool_calls` of a whole message. Calls that did not change are the same objects as before. */
export class MessageToolCalls {
  value: readonly ChatMessageToolCall[] = [];
  readonly #drafts = new ToolCallDrafts(0);
  readonly #merge = new ChatToolMerge(this.#drafts);
  /** What entries hold beside the call itself, and has to be sent back with it (Gemini's thought signatures). */
  readonly #extras = new Map<ToolCallDraft, object>();
  readonly #shown = new Map<ToolCallDraft, ChatMessageToolCall>();

  next(entries: readonly unknown[]): void {
    for (const item of entries) {
      const { index: _, id: __, type: ___, function: ____, custom: _____, ...extras } = fields(item);
      const call = this.#merge.next(fields(item));
      if (call) this.#extras.set(call.draft, overlay(this.#extras.get(call.draft) ?? {}, extras));
    }
    if (entries.length > 0) this.#show();
  }

  /** No more pieces come: calls that were given no id get one, as the result of a call has to name it. */
  end(answer: string): void {
    for (const { draft } of this.#merge.ordered)
      if (draft.id === '') draft.set('id', this.#merge.madeUpId(draft, answer));
    this.#show();
  }

  #show(): void {
    const calls = this.#merge.ordered.map(({ draft }) => {
      const call = overlay(this.#shown.get(draft), this.#callOf(draft)) as ChatMessageToolCall;
      this.#shown.set(draft, call);
      return call;
    });
    this.value = keepList(this.value, calls);
  }

  #callOf(draft: ToolCallDraft): Fields {
    const { id, name } = draft;
    const body = draft.custom
      ? { type: 'custom', custom: { name, input: draft.text } }
      : { type: 'function', function: { name, arguments: draft.text } };
    return { id, ...body, ...this.#extras.get(draft) };
  }
}
