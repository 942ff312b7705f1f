import { asyncScheduler, type OperatorFunction, type SchedulerAction, type SchedulerLike } from 'rxjs';
import { endpointOf, type EndpointName } from '../events.js';
import { ENDPOINTS, isToken } from '../is-token.js';
import type { Endpoint } from '../endpoints/endpoint.js';
import { errorFrame } from '../sse/error-frame.js';
import type { ServerSentEvent } from '../sse/server-sent-event.js';
import { MAX_HELD } from './before-first-token.js';
import { operate } from './operate.js';

export interface ServerSentEventsConfig {
  /** Emits a comment whenever nothing else was emitted for so many milliseconds. Off by default; proxies like 15,000. */
  readonly keepAliveMs?: number | undefined;
  /**
   * Gives each event an id: its `sequence_number` where the wire has one, else its place in the stream, from 0.
   * Default: false.
   */
  readonly ids?: boolean | undefined;
  /**
   * - `'hold'` (default): events that come before the first token wait for it, so that a failure before the token can
   *   still be answered with an HTTP status.
   * - `'passthrough'`: they are emitted as they come.
   */
  readonly preamble?: 'hold' | 'passthrough' | undefined;
  /** The endpoint whose frames these are, if the events should not tell it: a source without any event, for one. */
  readonly endpoint?: EndpointName | undefined;
  /** The clock of the keepalives. Default: `asyncScheduler`. */
  readonly scheduler?: SchedulerLike | undefined;
}

const DONE = '[DONE]';

/**
 * Events as the server-sent events of their own endpoint, for a backend that relays a stream: with NestJS's `@Sse()`,
 * whose `MessageEvent` they are, or with `pipeServerSentEvents()`.
 *
 * ```text
 * source                r--a--b--#
 * toServerSentEvents()  ---(RA)B--(E|)
 * ```
 *
 * Each event is emitted as one frame: its JSON as the data, and its type as the name, except on Chat Completions, whose
 * frames have none. Events before the first token (a role chunk, `response.created`) wait for it; see `preamble`. When
 * the source completes, `[DONE]` follows where the endpoint ends so (Chat Completions, Images), then the completion.
 * Strings are taken for data as it stands.
 *
 * **Errors** of the source before anything was emitted are passed through, and what was held back is dropped: nothing is
 * on the wire yet, and a real HTTP status can be. Afterwards an error becomes a frame in the endpoint's shape (and
 * `[DONE]` on Chat Completions and Images), then the completion. The frame tells of an `LlmStreamError` the provider's own
 * message if there is one, else a neutral sentence, and type and code, from which a reader concludes the same as
 * `retryable` says; it tells nothing of an error about this server's own key or account, nor of any other error. A failure that the last event has told already, as `response.failed`
 * does, is not told again.
 *
 * A keepalive is something emitted, too: the first one lets go of what is held back, or is the first thing to be seen.
 *
 * Unsubscribing unsubscribes from the source, and so aborts the request.
 *
 * @param config - keepalives, ids, and what to do with events before the first token
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createLlmClient, pipeServerSentEvents, toServerSentEvents } from 'rx-llm';
 *
 * const llm = createLlmClient({ baseUrl: 'https://gateway.example/v1' });
 *
 * createServer((request, response) => {
 *   const events = llm.chatCompletions({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
 *   pipeServerSentEvents(events.pipe(toServerSentEvents({ keepAliveMs: 15_000 })), response);
 * }).listen(8080);
 * ```
 */
export function toServerSentEvents<T>(config: ServerSentEventsConfig = {}): OperatorFunction<T, ServerSentEvent> {
  const { keepAliveMs = 0, scheduler = asyncScheduler } = config;
  const keepsAlive = keepAliveMs > 0 && keepAliveMs < Infinity;

  return operate<T, ServerSentEvent>((destination) => {
    let endpoint = config.endpoint;
    let held: ServerSentEvent[] | undefined = config.preamble === 'passthrough' ? undefined : [];
    let begun = false;
    let last: unknown;
    let nextNumber = 0;
    let emittedAt = keepsAlive ? scheduler.now() : 0;

    const emit = (frame: ServerSentEvent): void => {
      begun = true;
      if (keepsAlive) emittedAt = scheduler.now();
      destination.next(frame);
    };

    // Whoever receives a frame may make more come in, or the end: that queues up behind what is held.
    const release = (): void => {
      for (let frame = held?.shift(); frame; frame = held?.shift()) emit(frame);
      held = undefined;
    };

    const number = (frame: ServerSentEvent, sequenceNumber: unknown): ServerSentEvent => {
      const id = typeof sequenceNumber === 'number' ? sequenceNumber : nextNumber;
      nextNumber = id + 1;
      return config.ids ? { id: String(id), ...frame } : frame;
    };

    const end = (): void => {
      if (endpoint === 'chatCompletions' || endpoint === 'images') emit({ data: DONE });
      destination.complete();
    };

    const fail = (error: unknown): void => {
      if (!begun) {
        destination.error(error);
        return;
      }
      release();
      if (!tellsFailure(last, endpoint)) emit(number(errorFrame(endpoint, error, nextNumber), undefined));
      end();
    };

    const timer = keepsAlive
      ? scheduler.schedule(function (this: SchedulerAction<unknown>) {
          const idleMs = scheduler.now() - emittedAt;
          // Not rescheduled by every event: it looks when it fires.
          if (idleMs < keepAliveMs) {
            this.schedule(undefined, keepAliveMs - idleMs);
            return;
          }
          const waiting = held?.length;
          release();
          if (!waiting) emit({ comment: 'keepalive' });
          this.schedule(undefined, keepAliveMs);
        }, keepAliveMs)
      : undefined;

    return {
      next(value) {
        const event = asEvent(value);
        let frame: ServerSentEvent;
        try {
          if (event) endpoint = config.endpoint ?? nameOf(event) ?? endpoint;
          frame = number(frameOf(value, event, endpoint), event?.sequence_number);
        } catch (error) {
          fail(error);
          return;
        }
        last = value;
        if (!held) emit(frame);
        else {
          held.push(frame);
          if (begun || isToken(value) || held.length > MAX_HELD) release();
        }
      },
      error: fail,
      complete() {
        release();
        end();
      },
      finalize() {
        timer?.unsubscribe();
      },
    };
  });
}

interface WireEvent {
  readonly type?: unknown;
  readonly sequence_number?: unknown;
}

function asEvent(value: unknown): WireEvent | undefined {
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** An object without a type is a chunk of a chat if it looks like one; it may as well be somebody's own. */
function nameOf(event: WireEvent): EndpointName | undefined {
  return typeof event.type === 'string' || 'choices' in event ? endpointOf(event) : undefined;
}

function frameOf(value: unknown, event: WireEvent | undefined, endpoint: EndpointName | undefined): ServerSentEvent {
  if (!event) return { data: typeof value === 'string' ? value : String(value) };
  const data = JSON.stringify(event) ?? String(value);
  const { type } = event;
  // A name off the wire must not begin a line of its own, whoever writes it.
  const named = endpoint !== 'chatCompletions' && typeof type === 'string' && type !== '' && !/[\r\n]/.test(type);
  return named ? { type, data } : { data };
}

/** Whether this event says itself that the answer has failed. */
function tellsFailure(value: unknown, endpoint: EndpointName | undefined): boolean {
  const event = asEvent(value);
  if (!event) return false;
  if (!endpoint) return event.type === 'error';
  const { failure }: Pick<Endpoint<never>, 'failure'> = ENDPOINTS[endpoint];
  return failure(event as never) !== undefined;
}
