import { connect, defer, EMPTY, merge, Observable, type OperatorFunction, Subject, type Subscription, tap } from 'rxjs';
import { subscribeTo } from '../operators/operate.js';
import { onNextFrame, streamState, type StreamState } from '../operators/stream-state.js';
import type { LlmEvent, LlmResourceStatus } from './llm-resource.js';

/** What a resource knows at one moment. */
export interface ResourceState<V> extends Omit<StreamState, 'status'> {
  readonly status: LlmResourceStatus;
  readonly value: V | undefined;
  /** The same object for all states of one answer. */
  readonly answer: object;
}

export const IDLE: ResourceState<never> = {
  status: 'idle',
  text: '',
  reasoning: '',
  toolCalls: [],
  usage: undefined,
  finishReason: undefined,
  error: undefined,
  value: undefined,
  answer: {},
};

/** Raised in the place of the rest of a stream that is not wanted any more. Completing would call its tool calls whole. */
const STOPPED = new Error('stopped');

export interface ResourceStates<V> {
  readonly states: Observable<ResourceState<V>>;
  /** Aborts the request; a last state follows at once, which holds everything that has come. */
  stop(): void;
}

/** The states of one answer, no more than one a frame; `operator` reads the same events and provides the value. */
export function resourceStates<E extends LlmEvent, V>(
  stream: () => Observable<E>,
  operator: OperatorFunction<E, V> | undefined,
  choice = 0,
): ResourceStates<V> {
  const breaker = new Subject<unknown>();

  const states = new Observable<ResourceState<V>>((subscriber) => {
    const answer = {};
    let current: StreamState | undefined;
    let value: V | undefined;
    let frame: Subscription | undefined;
    let sourceFailed = false;
    let operatorFailed: { readonly error: unknown } | undefined;

    const emit = (): void => {
      frame?.unsubscribe();
      frame = undefined;
      if (current) subscriber.next({ ...outcome(current, operatorFailed), value, answer });
    };
    subscriber.add(() => frame?.unsubscribe());

    const values = (events: Observable<E>): Observable<never> =>
      operator
        ? new Observable((observer) => {
            subscribeTo(events.pipe(operator), observer, {
              next(next) {
                value = next;
                frame ??= onNextFrame(emit);
              },
              error(error) {
                // Its own failure, not the source's that is passed on: the answer is not what was asked for.
                if (!sourceFailed) {
                  operatorFailed = { error };
                  breaker.next(error);
                }
                observer.complete();
              },
            });
          })
        : EMPTY;

    const source = defer(stream).pipe(
      breakable(breaker),
      tap({
        error: () => {
          sourceFailed = true;
        },
      }),
      // The value is read first, so that the last state holds it.
      connect((events) => merge(values(events), events.pipe(asStreamState(choice)))),
    );
    subscribeTo(source, subscriber, {
      next(state) {
        current = state;
        emit();
      },
    });
  });

  return {
    states,
    stop: () => {
      breaker.next(STOPPED);
    },
  };
}

/** The readers of other endpoints pass over the events of images, which have a state, and no text. */
function asStreamState<E extends LlmEvent>(choice: number): OperatorFunction<E, StreamState> {
  return streamState({ choice, coalesce: 'frame' }) as OperatorFunction<LlmEvent, StreamState>;
}

function outcome(
  state: StreamState,
  operatorFailed: { readonly error: unknown } | undefined,
): Omit<ResourceState<never>, 'value' | 'answer'> {
  if (state.error === STOPPED) return { ...state, status: 'stopped', error: undefined };
  if (operatorFailed && state.status === 'done') return { ...state, status: 'failed', error: operatorFailed.error };
  return state;
}

function breakable<T>(breaker: Observable<unknown>): OperatorFunction<T, T> {
  return (source) =>
    new Observable((subscriber) => {
      subscriber.add(
        breaker.subscribe((reason) => {
          subscriber.error(reason);
        }),
      );
      subscribeTo(source, subscriber, { next: (value) => subscriber.next(value) });
    });
}
