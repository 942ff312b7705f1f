import fc from 'fast-check';
import type { Observable } from 'rxjs';
import {
  catchError,
  concat,
  concatMap,
  defer,
  delay,
  EMPTY,
  filter,
  from,
  ignoreElements,
  map,
  NEVER,
  of,
  share,
  switchMap,
  tap,
  throwError,
  timeout,
  toArray,
  type OperatorFunction,
} from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import {
  createLlmClient,
  fallbackBeforeFirstToken,
  isToken,
  retryBeforeFirstToken,
  streamTimeout,
  textDeltas,
  type LlmClient,
  type Transport,
} from 'rx-llm';
import { chat, images, messages, responses } from 'rx-llm/testing';

const frame = (event: { readonly type?: string | undefined }): string =>
  `${event.type === undefined ? '' : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`;

/** A whole answer of each endpoint, a preamble first. */
const ANSWERS: Readonly<Record<keyof LlmClient, string>> = {
  chatCompletions: `: queued\n\n${chat.turn(['Hel', 'lo']).map(frame).join('')}data: [DONE]\n\n`,
  responses: responses.turn('Hi').map(frame).join(''),
  messages: [messages.start(), messages.ping(), ...messages.turn('Hi').slice(1)].map(frame).join(''),
  images: `: queued\n\n${images
    .turn('aG8=', { partials: ['aGk='] })
    .map(frame)
    .join('')}`,
};
const ENDPOINTS = Object.keys(ANSWERS) as (keyof LlmClient)[];
const REQUEST: never = { model: 'm', messages: [], input: '', prompt: '', max_tokens: 1 } as never;

type Fault = 'end' | 'reset' | 'stall' | 'error event';
const FAULTS: readonly Fault[] = ['end', 'reset', 'stall', 'error event'];

/** A gateway whose every answer breaks after so many characters, and what became of it. */
class BrokenGateway {
  readonly keys: (string | undefined)[] = [];
  tokenSeen = false;
  requestsAfterToken = 0;

  constructor(
    readonly endpoint: keyof LlmClient,
    readonly cut: number,
    readonly fault: Fault,
  ) {}

  readonly #transport: Transport = (request) =>
    defer(() => {
      this.keys.push(request.headers['idempotency-key']);
      if (this.tokenSeen) this.requestsAfterToken++;
      let text = ANSWERS[this.endpoint].slice(0, this.cut);
      // A whole frame more cannot come in the middle of another one.
      if (this.fault === 'error event') text = text.slice(0, text.lastIndexOf('\n\n') + 1) + '\n';
      const pieces = text.match(/[^]{1,200}/g) ?? [];
      const end: Record<Fault, Observable<string>> = {
        end: EMPTY,
        reset: throwError(() => new Error('reset')),
        stall: NEVER,
        'error event': of('event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n'),
      };
      const body = concat(from(pieces).pipe(concatMap((piece) => of(piece).pipe(delay(1)))), end[this.fault]);
      return of({ status: 200, headers: { 'content-type': 'text/event-stream' }, body });
    });

  open(): Observable<object> {
    const client = createLlmClient({ baseUrl: 'http://gateway.test/v1', transport: this.#transport });
    return (client[this.endpoint](REQUEST) as Observable<object>).pipe(
      tap((event) => {
        this.tokenSeen ||= isToken(event);
      }),
    );
  }
}

/** Subscribes in virtual time, until nothing is left to happen. */
function drain(source: Observable<unknown>): { values: unknown[]; ended: boolean } {
  const values: unknown[] = [];
  let ended = false;
  const scheduler = new TestScheduler(() => undefined);
  scheduler.run(() => {
    source.subscribe({
      next: (value) => values.push(value),
      error: () => (ended = true),
      complete: () => (ended = true),
    });
  });
  return { values, ended };
}

type Step = OperatorFunction<unknown, unknown>;
const again = { count: 1, delay: 1, shouldRetry: () => true };

/** What may stand between the client and a retry: operators that swallow, delay, rename and wrap whatever they can. */
const STEPS: Readonly<Record<string, (gateway: BrokenGateway) => Step>> = {
  retry: () => retryBeforeFirstToken(again),
  passthrough: () => retryBeforeFirstToken({ ...again, preamble: 'passthrough' }),
  fallback: (gateway) => fallbackBeforeFirstToken(gateway.open()),
  'lazy fallback': (gateway) => fallbackBeforeFirstToken(() => gateway.open()),
  streamTimeout: () => streamTimeout({ totalMs: 20 }),
  timeout: () => timeout(15),
  textDeltas: () => textDeltas() as Step,
  'drop tokens': () => filter((value) => !isToken(value)),
  ignoreElements: () => ignoreElements(),
  toArray: () => toArray(),
  map: () => map(() => ({ choices: [] })),
  share: () => share(),
  switchMap: () => switchMap((value) => of(value)),
  delay: () => delay(3),
  'wrap errors': () => catchError(() => throwError(() => new Error('wrapped'))),
  'forge errors': () => catchError(() => throwError(() => ({ kind: 'http', retryable: true }))),
};
const step = fc.constantFrom(...Object.keys(STEPS));

describe('before the first token', () => {
  describe.each(ENDPOINTS)('%s', (endpoint) => {
    it.each(FAULTS)(
      'an answer that breaks anywhere (%s) is asked for again without a token, and never with one',
      (fault) => {
        const whole = ANSWERS[endpoint].length;
        for (let cut = 0, step = 1; cut <= whole; cut = cut < whole ? Math.min(cut + step, whole) : Infinity) {
          const gateway = new BrokenGateway(endpoint, cut, fault);
          const { ended } = drain(gateway.open().pipe(retryBeforeFirstToken({ count: 1 })));
          expect({ cut, ended, after: gateway.requestsAfterToken }).toEqual({ cut, ended: true, after: 0 });
          expect({ cut, requests: gateway.keys.length }).toEqual({
            cut,
            requests: gateway.tokenSeen || cut === whole ? 1 : 2,
          });
          expect(new Set(gateway.keys).size).toBe(1);
          if (gateway.tokenSeen) step = 5;
        }
      },
    );
  });

  it('no second request follows a token, whatever operators stand around it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ENDPOINTS),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom(...FAULTS),
        fc.array(step, { maxLength: 5 }),
        (endpoint, position, fault, names) => {
          const gateway = new BrokenGateway(endpoint, Math.round(position * ANSWERS[endpoint].length), fault);
          const chain = names.reduce<Observable<unknown>>(
            (source, name) => source.pipe(STEPS[name]!(gateway)),
            gateway.open(),
          );
          drain(chain.pipe(retryBeforeFirstToken(again)));
          return gateway.requestsAfterToken === 0;
        },
      ),
      { numRuns: 1500 },
    );
  });

  it('all tries of one request have one key, however deep the retries are nested', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ENDPOINTS),
        fc.array(fc.constantFrom('retry', 'passthrough', 'streamTimeout', 'delay', 'share', 'wrap errors'), {
          maxLength: 4,
        }),
        (endpoint, names) => {
          const gateway = new BrokenGateway(endpoint, 0, 'reset');
          const chain = names.reduce<Observable<unknown>>(
            (source, name) => source.pipe(STEPS[name]!(gateway)),
            gateway.open(),
          );
          drain(chain.pipe(retryBeforeFirstToken(again)));
          const retries = names.filter((name) => name === 'retry' || name === 'passthrough').length;
          expect(gateway.keys.length).toBe(2 ** (retries + 1));
          expect(new Set(gateway.keys).size).toBe(1);
        },
      ),
      { numRuns: 100 },
    );
  });
});
