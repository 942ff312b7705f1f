import { isPlatformServer } from '@angular/common';
import {
  assertInInjectionContext,
  computed,
  DestroyRef,
  effect,
  inject,
  Injector,
  NgZone,
  PLATFORM_ID,
  type Signal,
  signal,
  untracked,
} from '@angular/core';
import { type Observable, type OperatorFunction, Subscription } from 'rxjs';
import type { ChatLike, ImagesLike, MessagesLike, ResponsesLike } from '../events.js';
import type { FinishReason } from '../finish-reason.js';
import type { ToolCall } from '../tool-call.js';
import type { Usage } from '../usage.js';
import { IDLE, type ResourceState, type ResourceStates, resourceStates } from './resource-states.js';
import { type TextBlock, TextBlocks } from './text-blocks.js';

/** What a resource can show: the events of any endpoint. */
export type LlmEvent = ChatLike | ResponsesLike | MessagesLike | ImagesLike;

/**
 * - `'idle'`: nothing was started, or `params` are undefined.
 * - `'connecting'`: asked, and nothing has come yet.
 * - `'streaming'`: events come.
 * - `'done'`: the answer is complete.
 * - `'failed'`: it is not, and `error` says why. What came before stays.
 * - `'stopped'`: `stop()` ended it. What came before stays.
 */
export type LlmResourceStatus = 'idle' | 'connecting' | 'streaming' | 'done' | 'failed' | 'stopped';

export interface LlmResourceOptions<P, E extends LlmEvent, V> {
  /**
   * What to ask for, as a function of signals. A new value aborts the request that runs and starts another; `undefined`
   * aborts it, and the resource is idle. Without `params`, `start()` is what starts it.
   */
  readonly params?: () => P | undefined;
  /** The request, from what `params` or `start()` gave. Signals that it reads are not followed. */
  readonly stream: (params: P) => Observable<E>;
  /** Any operator over the same events, for `value`: images, citations, tool calls with `partialInput`. */
  readonly operator?: OperatorFunction<E, V>;
  /** Which of several choices to follow. Default 0. */
  readonly choice?: number;
  /** Start on a server that renders pages, too. Default `false`: there the resource stays idle. */
  readonly server?: boolean;
  /** Where to take the life span from, outside of an injection context. */
  readonly injector?: Injector;
}

/** An answer as signals. They change at most once per animation frame, all at the same moment. */
export interface LlmResourceRef<P, V = never> {
  readonly status: Signal<LlmResourceStatus>;
  /** The request is under way: `'connecting'` or `'streaming'`. */
  readonly active: Signal<boolean>;
  /** The text so far; it stays when the answer fails or is stopped. */
  readonly text: Signal<string>;
  /**
   * The text so far in blocks, for long texts: only the last block changes, the others keep their identity, so that a
   * frame costs the same however long the text has become. Each belongs into a block element with
   * `white-space: pre-wrap`, tracked by `key`.
   */
  readonly blocks: Signal<readonly TextBlock[]>;
  readonly reasoning: Signal<string>;
  readonly toolCalls: Signal<readonly ToolCall[]>;
  readonly usage: Signal<Usage | undefined>;
  readonly finishReason: Signal<FinishReason | undefined>;
  /** What the stream raised: as a rule an `LlmStreamError`. */
  readonly error: Signal<unknown>;
  /** What `operator` emitted last. */
  readonly value: Signal<V | undefined>;
  /** Aborts what runs, and starts with these params; they may be left out where `stream` takes none. */
  start(...params: undefined extends P ? [params?: P] : [params: P]): void;
  /** Aborts the request. What has come stays, and the status is `'stopped'`. */
  stop(): void;
  /** Aborts what runs, and asks the same again; `false` if there is nothing to ask. */
  restart(): boolean;
  /** Aborts the request and forgets the answer. */
  reset(): void;
}

/**
 * One answer after another as signals, for a component or a service: started by `params` or by `start()`, aborted when
 * the params change or become undefined, when it is stopped, and when the component or service is destroyed.
 *
 * Reading its signals never throws: a failure is a value, and the text that came before it stays. However fast tokens
 * come, signals change once per animation frame, so that a view is not rendered for each of them; the last change does
 * not wait for a frame. With zone.js the stream runs outside of Angular's zone, and rendering follows from signals alone.
 *
 * ```text
 * events    --H-----l-----#        H: text 'Hello', l: text ' world'
 * status    c-s-----------f        connecting, streaming, failed
 * text      --a-----b------        a: 'Hello', b: 'Hello world'
 * ```
 *
 * @throws Error if it is called outside of an injection context without `injector`
 *
 * @example
 * ```ts
 * import { Component, inject, signal } from '@angular/core';
 * import { LlmClient, retryBeforeFirstToken } from 'rx-llm';
 * import { llmResource } from 'rx-llm/angular';
 *
 * @Component({
 *   selector: 'app-answer',
 *   template: `
 *     @for (block of answer.blocks(); track block.key) {
 *       <div style="white-space: pre-wrap">{{ block.text }}</div>
 *     }
 *     @if (answer.active()) {
 *       <button (click)="answer.stop()">Stop</button>
 *     }
 *   `,
 * })
 * export class Answer {
 *   readonly #llm = inject(LlmClient);
 *   readonly question = signal<string | undefined>(undefined);
 *   readonly answer = llmResource({
 *     params: this.question,
 *     stream: (input) => this.#llm.responses({ model: 'm', input }).pipe(retryBeforeFirstToken()),
 *   });
 * }
 * ```
 */
export function llmResource<P, E extends LlmEvent, V = never>(
  options: LlmResourceOptions<P, E, V>,
): LlmResourceRef<P, V> {
  if (!options.injector) assertInInjectionContext(llmResource);
  const injector = options.injector ?? inject(Injector);
  const zone = injector.get(NgZone);
  const { params } = options;
  const asleep = options.server !== true && isPlatformServer(injector.get(PLATFORM_ID));

  const state = signal<ResourceState<V>>(IDLE);
  let asked: { readonly params: P } | undefined;
  let running: ResourceStates<V> | undefined;
  let request = Subscription.EMPTY;
  let destroyed = false;

  const start = (params: P): void => {
    request.unsubscribe();
    if (asleep || destroyed) return;
    asked = { params };
    running = resourceStates(() => options.stream(params), options.operator, options.choice);
    const { states } = running;
    // In Angular's zone each chunk would be a round of change detection.
    request = zone.runOutsideAngular(() => untracked(() => states.subscribe((next) => state.set(next))));
  };
  const reset = (): void => {
    request.unsubscribe();
    asked = undefined;
    state.set(IDLE);
  };

  injector.get(DestroyRef).onDestroy(() => {
    destroyed = true;
    request.unsubscribe();
  });
  if (params && !asleep) {
    const wanted = computed(params);
    effect(
      () => {
        const value = wanted();
        untracked(() => {
          if (value === undefined) reset();
          else start(value);
        });
      },
      { injector },
    );
  }

  let cutter = new TextBlocks();
  let cutFor: object | undefined;
  const blocks = computed(() => {
    const { answer, text } = state();
    if (answer !== cutFor) cutter = new TextBlocks();
    cutFor = answer;
    return cutter.next(text);
  });

  return {
    status: computed(() => state().status),
    active: computed(() => state().status === 'connecting' || state().status === 'streaming'),
    text: computed(() => state().text),
    blocks,
    reasoning: computed(() => state().reasoning),
    toolCalls: computed(() => state().toolCalls),
    usage: computed(() => state().usage),
    finishReason: computed(() => state().finishReason),
    error: computed(() => state().error),
    value: computed(() => state().value),
    start(...[params]) {
      start(params as P);
    },
    stop() {
      if (!request.closed) running?.stop();
    },
    restart() {
      if (asked) start(asked.params);
      return asked !== undefined;
    },
    reset,
  };
}
