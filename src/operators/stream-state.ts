import {
  animationFrameScheduler,
  animationFrames,
  asyncScheduler,
  Observable,
  Subscription,
  take,
  type OperatorFunction,
  type SchedulerLike,
} from 'rxjs';
import { readerOf } from '../concepts/concept.js';
import { finish } from '../concepts/finish.js';
import { reasoning } from '../concepts/reasoning.js';
import { text } from '../concepts/text.js';
import { tools } from '../concepts/tools.js';
import { usage } from '../concepts/usage.js';
import { fields } from '../endpoints/fields.js';
import { isLlmStreamError } from '../errors.js';
import type { ChatLike, MessagesLike, ResponsesLike } from '../events.js';
import type { FinishReason } from '../finish-reason.js';
import { TextSoFar } from '../text-so-far.js';
import type { ToolCall } from '../tool-call.js';
import { ToolCallDrafts } from '../tool-calls.js';
import type { Usage, UsageTally } from '../usage.js';
import type { ChoiceConfig } from './choice.js';
import { subscribeTo } from './operate.js';

/** All that a view shows of an answer, at one moment. Plain data; parts that did not change keep their identity. */
export interface StreamState {
  /**
   * - `'connecting'`: nothing has come yet.
   * - `'streaming'`: events come; the first need not hold text.
   * - `'done'`: the answer is complete.
   * - `'failed'`: it is not, and `error` says why. What came before stays.
   */
  readonly status: 'connecting' | 'streaming' | 'done' | 'failed';
  /** The text so far. */
  readonly text: string;
  /** The reasoning so far. */
  readonly reasoning: string;
  /** The calls of client-side tools so far, in the order in which they began; see `complete` and `valid` of each. */
  readonly toolCalls: readonly ToolCall[];
  /** The last that was reported; of a failed answer, what its error knows. */
  readonly usage: Usage | undefined;
  readonly finishReason: FinishReason | undefined;
  /** What the source raised, if the answer has failed: as a rule an `LlmStreamError`. */
  readonly error: unknown;
}

export interface StreamStateConfig extends ChoiceConfig {
  /**
   * `'frame'` emits at most once per animation frame, however many events come, and the last state without waiting: for
   * views that would else be drawn for each token. By default each event that changes something is a state.
   */
  readonly coalesce?: 'frame' | undefined;
  /**
   * What frames are timed by. Default: animation frames, where there are none (on a server) every 16 ms. Animation
   * frames stand still in a page that is hidden; the last state comes all the same.
   */
  readonly scheduler?: SchedulerLike | undefined;
}

const FRAME_MS = 16;
const NO_CALLS: readonly ToolCall[] = Object.freeze([]);

/**
 * Emits what a view renders: one object that holds everything that is known of the answer, from the first moment to the
 * end. It never errors, so that an `async` pipe, `toSignal()` or a store keeps what came before a failure.
 *
 * ```text
 * source             --H-----l-----#           H: text 'Hello', l: text ' world'
 * streamState()      c-a-----b-----(f|)
 *                    c: connecting               a: streaming, 'Hello'
 *                    b: streaming, 'Hello world' f: failed, 'Hello world', the error
 * ```
 *
 * The first state, `connecting`, is emitted in `subscribe`, before the source is subscribed to. `streaming` begins with
 * the first event of any kind. From then on there is a state for each event that changes something, and a last one,
 * `done` or `failed`, followed by the completion. An error of the source is in `error`, unchanged.
 *
 * Unsubscribing unsubscribes from the source, and so aborts the request; nothing more is emitted then.
 *
 * @param config - which choice to follow, and whether to emit no more often than a screen is drawn
 *
 * @example
 * ```ts
 * import { createLlmClient, retryBeforeFirstToken, streamState } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .responses({ model: 'm', input: 'Hi' })
 *   .pipe(retryBeforeFirstToken(), streamState({ coalesce: 'frame' }))
 *   .subscribe(({ status, text, error }) => console.log(status, text, error));
 * ```
 */
export function streamState(
  config: StreamStateConfig = {},
): OperatorFunction<ChatLike | ResponsesLike | MessagesLike, StreamState> {
  const { choice = 0, coalesce, scheduler } = config;

  return (source) =>
    new Observable<StreamState>((destination) => {
      const answer = new Answer(choice);
      let status: StreamState['status'] = 'connecting';
      let frame: Subscription | undefined;
      let waits = false;

      const emit = (error?: unknown): void => {
        waits = false;
        destination.next(answer.state(status, error));
      };

      const end = (last: 'done' | 'failed', error?: unknown): void => {
        status = last;
        emit(error);
        destination.complete();
      };

      emit();
      // The first state may be all that is wanted; then no request must be sent.
      if (destination.closed) return;

      subscribeTo<object, StreamState>(source, destination, {
        next(event) {
          const changed = answer.read(event);
          if (!changed && status === 'streaming') return;
          status = 'streaming';
          if (coalesce !== 'frame') emit();
          else if (!waits) {
            waits = true;
            frame = onNextFrame(emit, scheduler);
          }
        },
        error(error) {
          answer.fail(error);
          end('failed', error);
        },
        complete() {
          answer.end();
          end('done');
        },
        finalize() {
          frame?.unsubscribe();
        },
      });
    });
}

/** What one subscription has read so far. */
class Answer {
  #changed = false;
  readonly #text = new TextSoFar();
  readonly #reasoning = new TextSoFar();
  readonly #drafts: ToolCallDrafts;
  #toolCalls = NO_CALLS;
  #tally: UsageTally | undefined;
  #errorUsage: Usage | undefined;
  #finishReason: FinishReason | undefined;
  readonly #readers;
  /** These read the frame that reports a failure as well, which is raised instead of being emitted. */
  readonly #failureReaders;

  constructor(choice: number) {
    const drafts = (this.#drafts = new ToolCallDrafts(choice));
    const appendTo = (soFar: TextSoFar) => (piece: string, of: number) => {
      if (of !== choice) return;
      soFar.add(piece);
      this.#changed = true;
    };
    // Looked at through `dirty`, which also tells of what changes between a call's pieces.
    const ignore = (): void => undefined;
    this.#failureReaders = [
      readerOf(usage, (tally) => {
        this.#tally = tally;
        this.#changed = true;
      }),
      readerOf(finish, (reason, of) => {
        if (of !== choice) return;
        this.#finishReason = reason;
        this.#changed = true;
      }),
    ];
    this.#readers = [
      readerOf(text, appendTo(this.#text)),
      readerOf(reasoning, appendTo(this.#reasoning)),
      readerOf(tools, { choice, drafts, completed: ignore, changed: ignore }),
      ...this.#failureReaders,
    ];
  }

  /** Whether the event changed something. */
  read(event: unknown): boolean {
    this.#changed = false;
    if (typeof event === 'object' && event !== null) for (const reader of this.#readers) reader.next(event);
    return this.#changed || this.#drafts.dirty;
  }

  end(error?: unknown): void {
    for (const reader of this.#readers) reader.end?.(error);
  }

  fail(error: unknown): void {
    const known = isLlmStreamError(error) ? error : undefined;
    if (known?.event) for (const reader of this.#failureReaders) reader.next(fields(known.event));
    this.end(error);
    this.#errorUsage = known?.usage;
  }

  state(status: StreamState['status'], error: unknown): StreamState {
    if (this.#drafts.dirty) this.#toolCalls = this.#drafts.snapshot();
    return {
      status,
      text: this.#text.value,
      reasoning: this.#reasoning.value,
      toolCalls: this.#toolCalls,
      usage: this.#tally?.value ?? this.#errorUsage,
      finishReason: this.#finishReason,
      error,
    };
  }
}

/** Runs `work` once, in the next animation frame. */
export function onNextFrame(work: () => void, scheduler?: SchedulerLike): Subscription {
  if (scheduler) {
    // With a delay it would take a timer instead of a frame.
    return scheduler.schedule(() => work(), scheduler === animationFrameScheduler ? 0 : FRAME_MS);
  }
  const frame = new Subscription();
  frame.add(
    animationFrames()
      .pipe(take(1))
      .subscribe({
        next: () => work(),
        // There is no `requestAnimationFrame` here.
        error: () => frame.add(asyncScheduler.schedule(() => work(), FRAME_MS)),
      }),
  );
  return frame;
}
