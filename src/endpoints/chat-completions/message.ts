import type { ReaderFactory } from '../../concepts/concept.js';
import type { MessageSink } from '../../concepts/message.js';
import { counted, mergeUsage } from '../../usage.js';
import { fields, list, nonblank, text, type Fields } from '../fields.js';
import { insert, isEmpty, overlay, put, putAt } from '../snapshot.js';
import { choiceOf, MAX_CHOICES } from './choices.js';
import type { ChatCompletion, ChatCompletionChoice, ChatCompletionMessage } from './completion.js';
import { DeltaFold } from './delta-fold.js';
import { MessageToolCalls } from './message-tool-calls.js';
import type { ChatCompletionChunk } from './wire.js';

const EMPTY: ChatCompletion = { object: 'chat.completion', choices: [] };

export const chatMessage: ReaderFactory<ChatCompletionChunk, MessageSink> = (sink) => {
  let completion = EMPTY;
  let shown = EMPTY;
  /** In the order of the completion's own choices. */
  const choices: ChoiceFold[] = [];

  function choiceAt(index: number): number {
    const place = choices.findIndex((choice) => choice.index >= index);
    if (choices[place]?.index === index) return place;
    if (choices.length >= MAX_CHOICES) return -1;
    const at = place === -1 ? choices.length : place;
    const fold = new ChoiceFold(index);
    choices.splice(at, 0, fold);
    completion = put(completion, 'choices', insert(completion.choices, at, fold.choice));
    return at;
  }

  function readChoices(entries: readonly unknown[]): void {
    for (const item of entries) {
      const entry = fields(item);
      const place = choiceAt(choiceOf(entry));
      const fold = choices[place];
      if (fold === undefined) continue;
      fold.next(entry);
      completion = put(completion, 'choices', putAt(completion.choices, place, fold.choice));
    }
  }

  /** What is said of the whole answer. Padding and the name of the chunk are the stream's alone. */
  function readEnvelope(chunk: Fields): void {
    const { id, created, object: _, choices: entries, usage, obfuscation: __, type: ___, x_groq, ...rest } = chunk;
    if (!completion.id && nonblank(id)) completion = put(completion, 'id', id);
    if (!completion.created && typeof created === 'number') completion = put(completion, 'created', created);
    completion = overlay(completion, rest);
    const { usage: groqUsage, ...groq } = fields(x_groq);
    if (x_groq != null) completion = overlay(completion, { x_groq: groq });
    const report = counted(usage) ?? counted(groqUsage) ?? counted(fields(list(entries)[0]).usage);
    if (!report) return;
    completion = put(completion, 'usage', overlay(completion.usage, mergeUsage({ ...completion.usage }, report)));
  }

  function show(): void {
    if (completion === shown) return;
    shown = completion;
    sink.snapshot(completion);
  }

  return {
    next(event) {
      const chunk = fields(event);
      readEnvelope(chunk);
      readChoices(list(chunk.choices));
      show();
    },
    end() {
      choices.forEach((fold, place) => {
        fold.end(text(completion.id));
        completion = put(completion, 'choices', putAt(completion.choices, place, fold.choice));
      });
      show();
    },
  };
};

/** One choice of the completion, from its pieces. */
class ChoiceFold {
  choice: ChatCompletionChoice;
  readonly #delta = new DeltaFold();
  readonly #calls = new MessageToolCalls();
  /** Log probabilities that are not in the choice yet: its list would be copied for each token. */
  readonly #logprobs = new Map<string, unknown[]>();
  /** A delta has said something. */
  #started = false;

  constructor(readonly index: number) {
    this.choice = { index, message: { role: 'assistant', content: null }, finish_reason: null };
  }

  next(entry: Fields): void {
    const {
      index: _,
      delta,
      message,
      finish_reason,
      logprobs,
      usage: __,
      content_filter_offsets: ___,
      ...rest
    } = entry;
    this.#read(fields(delta));
    // Beside deltas, a message only repeats what they said; without them, it is all that has been said.
    if (message && !this.#started) this.choice = put(this.choice, 'message', overlay(this.choice.message, message));
    this.choice = overlay(this.choice, rest);
    this.#readLogprobs(logprobs);
    if (this.choice.finish_reason === null && nonblank(finish_reason)) {
      this.choice = put(this.choice, 'finish_reason', finish_reason);
      this.#showLogprobs();
    }
  }

  end(answer: string): void {
    this.#calls.end(answer);
    this.#showCalls(this.choice.message);
    this.#showLogprobs();
  }

  #read(delta: Fields): void {
    const { tool_calls, ...rest } = delta;
    this.#started ||= !isEmpty(tool_calls) || Object.keys(rest).some((name) => name !== 'role' && !isEmpty(rest[name]));
    this.#calls.next(list(tool_calls));
    this.#showCalls(this.#delta.next(this.choice.message, rest));
  }

  #showCalls(message: ChatCompletionMessage): void {
    const calls = this.#calls.value;
    this.choice = put(this.choice, 'message', calls.length === 0 ? message : put(message, 'tool_calls', calls));
  }

  #readLogprobs(logprobs: unknown): void {
    if (logprobs === null && this.choice.logprobs === undefined) this.choice = put(this.choice, 'logprobs', null);
    for (const [name, entries] of Object.entries(fields(logprobs))) {
      if (!Array.isArray(entries)) continue;
      const hidden = this.#logprobs.get(name) ?? [];
      for (const entry of list(entries)) hidden.push(entry);
      this.#logprobs.set(name, hidden);
    }
  }

  #showLogprobs(): void {
    if (this.#logprobs.size === 0) return;
    const before = fields(this.choice.logprobs);
    const after = [...this.#logprobs].map(([name, hidden]) => [name, [...list(before[name]), ...hidden]] as const);
    this.choice = put(this.choice, 'logprobs', { ...before, ...Object.fromEntries(after) });
    this.#logprobs.clear();
  }
}
