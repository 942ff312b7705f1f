import { computed, effect, inject, Injectable, type Signal, signal, untracked } from '@angular/core';
import { retryBeforeFirstToken, type EndpointName, type RetryInfo, type StreamedImage, type ToolCall } from 'rx-llm';
import { llmResource, type LlmResourceRef, type LlmResourceStatus, type TextBlock } from 'rx-llm/angular';
import { pictures } from './pictures';
import { ask, type Message, type TextEvent } from './requests';
import { Settings } from './settings';
import { runTool } from './tools';

/** What a view shows of one answer. */
export interface Answer {
  readonly status: LlmResourceStatus;
  readonly text: string;
  readonly blocks: readonly TextBlock[];
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  /** What the calls returned, by their ids. */
  readonly results: Readonly<Record<string, string>>;
  readonly picture: StreamedImage | undefined;
  readonly usage: ReturnType<LlmResourceRef<unknown>['usage']>;
  readonly finish: string | undefined;
  readonly error: unknown;
}

/** A question and its answer, which takes more than one step when the model calls tools. */
export interface Turn {
  readonly id: number;
  readonly question: string;
  readonly steps: readonly Answer[];
}

interface Ask {
  readonly endpoint: Exclude<EndpointName, 'images'>;
  readonly messages: readonly Message[];
}

@Injectable({ providedIn: 'root' })
export class Conversation {
  readonly #settings = inject(Settings);
  readonly #past = signal<readonly Turn[]>([]);
  /** The turn that is being answered, without the step that is under way. */
  readonly #current = signal<Turn | undefined>(undefined);
  readonly #paints = signal(false);
  #asked = 0;

  /** What a retry waits for; empty when nothing does. */
  readonly notice = signal('');

  readonly #text = llmResource({
    stream: ({ endpoint, messages }: Ask) => {
      const { client, thinking, options } = this.#settings;
      return ask(client(), endpoint, messages, thinking(), options()).pipe(this.#patiently<TextEvent>());
    },
  });

  readonly #picture = llmResource({
    stream: (prompt: string) =>
      this.#settings
        .client()
        .images({ model: 'vendor/painter', prompt, partial_images: 3, size: '512x512' }, this.#settings.options())
        .pipe(this.#patiently()),
    operator: pictures(),
  });

  readonly #text$ = snapshot(this.#text);
  readonly #picture$ = snapshot(this.#picture);
  readonly #live = computed(() => (this.#paints() ? this.#picture$() : this.#text$()));

  readonly active = computed(() => this.#text.active() || this.#picture.active());
  readonly status = computed(() => this.#live().status);
  readonly turns = computed<readonly Turn[]>(() => {
    const current = this.#current();
    if (!current) return this.#past();
    return [...this.#past(), { ...current, steps: [...current.steps, this.#live()] }];
  });
  readonly totals = computed(() => {
    const usages = this.turns().flatMap(({ steps }) => steps.map(({ usage }) => usage));
    const sum = (count: 'inputTokens' | 'outputTokens' | 'costUsd') =>
      usages.reduce((total, usage) => total + (usage?.[count] ?? 0), 0);
    return { input: sum('inputTokens'), output: sum('outputTokens'), costUsd: sum('costUsd') };
  });

  constructor() {
    // The model waits for results: run its calls and go on.
    effect(() => {
      const { status, toolCalls } = this.#text$();
      const wanted = toolCalls.filter(({ valid }) => valid);
      if (status === 'done' && wanted.length > 0) untracked(() => this.#continueWith(wanted));
    });
  }

  send(question: string): void {
    this.#settle();
    this.notice.set('');
    this.#current.set({ id: ++this.#asked, question, steps: [] });
    this.#ask();
  }

  /** Asks the last question again, and forgets its answer. */
  again(): void {
    this.notice.set('');
    this.#current.update((turn) => turn && { ...turn, steps: [] });
    this.#ask();
  }

  stop(): void {
    this.notice.set('');
    this.#text.stop();
    this.#picture.stop();
  }

  clear(): void {
    this.notice.set('');
    this.#text.reset();
    this.#picture.reset();
    this.#current.set(undefined);
    this.#past.set([]);
  }

  #ask(): void {
    const endpoint = this.#settings.endpoint();
    const current = this.#current();
    this.#text.stop();
    this.#picture.stop();
    this.#paints.set(endpoint === 'images');
    if (endpoint === 'images') this.#picture.start(current?.question ?? '');
    else this.#text.start({ endpoint, messages: messagesOf([...this.#past(), ...(current ? [current] : [])]) });
  }

  #continueWith(calls: readonly ToolCall[]): void {
    const results = Object.fromEntries(calls.map((call) => [call.id, runTool(call)]));
    const step = { ...this.#text$(), results };
    this.#current.update((turn) => turn && { ...turn, steps: [...turn.steps, step] });
    this.#ask();
  }

  /** The answer that was under way becomes history. */
  #settle(): void {
    this.stop();
    this.#past.set(this.turns());
    this.#current.set(undefined);
  }

  #patiently<T>() {
    return retryBeforeFirstToken<T>({
      onRetry: (info) => {
        this.notice.set(describeRetry(info));
      },
    });
  }
}

function messagesOf(turns: readonly Turn[]): Message[] {
  return turns.flatMap(({ question, steps }) => [
    { role: 'user' as const, text: question },
    ...steps.flatMap(({ text, toolCalls, results }): Message[] => {
      const answered = toolCalls.filter(({ id }) => id in results);
      if (text === '' && answered.length === 0) return [];
      return [
        { role: 'assistant', text, toolCalls: answered },
        ...answered.map((call) => ({ role: 'tool' as const, call, result: results[call.id] ?? '' })),
      ];
    }),
  ]);
}

function describeRetry({ error, attempt, delayMs = 0 }: RetryInfo): string {
  const { status, kind } = Object(error) as { status?: number; kind?: string };
  const why = status === 429 ? 'The gateway asks for a pause' : status ? 'The gateway is busy' : `No answer (${kind})`;
  return `${why}. Trying again in ${(delayMs / 1000).toFixed(1)} s (retry ${attempt}).`;
}

function snapshot<P>(resource: LlmResourceRef<P, StreamedImage>): Signal<Answer>;
function snapshot<P>(resource: LlmResourceRef<P>): Signal<Answer>;
function snapshot<P>(resource: LlmResourceRef<P, StreamedImage>): Signal<Answer> {
  return computed(() => ({
    status: resource.status(),
    text: resource.text(),
    blocks: resource.blocks(),
    reasoning: resource.reasoning(),
    toolCalls: resource.toolCalls(),
    results: {},
    picture: resource.value(),
    usage: resource.usage(),
    finish: resource.finishReason()?.reason,
    error: resource.error(),
  }));
}
