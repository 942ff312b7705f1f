import { getEventListeners } from 'node:events';
import {
  concat,
  defer,
  ignoreElements,
  map,
  NEVER,
  Observable,
  of,
  repeat,
  share,
  Subject,
  switchMap,
  take,
  tap,
  throwError,
  timer,
  toArray,
  VirtualTimeScheduler,
  type Subscription,
} from 'rxjs';
import {
  ConnectionError,
  createLlmClient,
  HttpResponseError,
  retryBeforeFirstToken,
  StreamEventError,
  StreamTimeoutError,
  textDeltas,
  TruncatedStreamError,
  type RetryBeforeFirstTokenConfig,
  type RetryInfo,
} from 'rx-llm';
import { chat, images, marbles, messages, responses, sse, wireTransport, type ColdHelpers } from 'rx-llm/testing';

/** Subscribed to again, it gives the next one. */
function inTurn<T>(...sources: readonly Observable<T>[]): Observable<T> {
  let index = 0;
  return defer(() => sources[index++] ?? throwError(() => new Error('one try too many')));
}

describe('retryBeforeFirstToken', () => {
  // c: the role chunk, which is no token; t and u: text
  const values = { c: chat.role(), t: chat.text('Hel'), u: chat.text('lo'), e: chat.finish('stop') };
  const busy = new HttpResponseError('busy', { status: 503, retryable: true });
  const cut = new TruncatedStreamError('cut', { retryable: true });
  const wrong = new HttpResponseError('wrong', { status: 400, retryable: false });
  /** Retries after 5, 10, 20 ms. */
  const quick = { delay: 5, random: () => 0 };

  it(
    'mirrors a source that does not fail',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --t-u-e-|');
      const e1subs = '        ^-------!';
      const expected = '      --t-u-e-|';

      expectObservable(e1.pipe(retryBeforeFirstToken())).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'subscribes again after an error before the token, when the delay has passed',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold('    --#             ', undefined, busy);
      const second = cold('          --t-u-e-|');
      const firstsubs = '     ^-!             ';
      const secondsubs = '    -------^-------!';
      const expected = '      ---------t-u-e-|';

      expectObservable(inTurn(first, second).pipe(retryBeforeFirstToken(quick))).toBe(expected);
      expectSubscriptions(first.subscriptions).toBe(firstsubs);
      expectSubscriptions(second.subscriptions).toBe(secondsubs);
    }),
  );

  it(
    'never subscribes again after a token',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       ----t-#', undefined, cut);
      const e1subs = '        ^-----!';
      const expected = '      ----t-#';

      const result = e1.pipe(retryBeforeFirstToken({ ...quick, shouldRetry: () => true }));
      expectObservable(result).toBe(expected, undefined, cut);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'holds back what comes before the token until it comes',
    marbles(values, ({ cold, expectObservable }) => {
      const e1 = cold('       --c---t----u-|');
      const expected = '      ------(ct)-u-|';

      expectObservable(e1.pipe(retryBeforeFirstToken())).toBe(expected);
    }),
  );

  it(
    'shows the preamble of the try that succeeds, and of no other',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold('    -c-#                         ', undefined, cut);
      const second = cold('           -c-#                 ', undefined, cut);
      const third = cold('                         -c-t---|');
      const firstsubs = '     ^--!                         ';
      const secondsubs = '    --------^--!                 ';
      const thirdsubs = '     ---------------------^------!';
      const expected = '      ------------------------(ct)|';

      expectObservable(inTurn(first, second, third).pipe(retryBeforeFirstToken(quick))).toBe(expected);
      expectSubscriptions(first.subscriptions).toBe(firstsubs);
      expectSubscriptions(second.subscriptions).toBe(secondsubs);
      expectSubscriptions(third.subscriptions).toBe(thirdsubs);
    }),
  );

  it(
    'delivers what it held, and then the error, when no try is left',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-#                 ', undefined, cut);
      const e1subs = [
        '                     ^--!                 ',
        '                     --------^--!         ',
        '                     ---------------------^--!',
      ];
      const expected = '      ------------------------(c#)';

      expectObservable(e1.pipe(retryBeforeFirstToken(quick))).toBe(expected, undefined, cut);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'delivers what it held when the source completes without a token',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-e-|    ');
      const e1subs = '        ^----!    ';
      const expected = '      -----(ce|)';

      expectObservable(e1.pipe(retryBeforeFirstToken())).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'completes with an empty source',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       ---|');
      const e1subs = '        ^--!';
      const expected = '      ---|';

      expectObservable(e1.pipe(retryBeforeFirstToken())).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'shows the preamble of each try at once with passthrough',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold('    -c-#         ', undefined, cut);
      const second = cold('           -c-t-|');
      const firstsubs = '     ^--!         ';
      const secondsubs = '    --------^----!';
      const expected = '      -c-------c-t-|';

      const result = inTurn(first, second).pipe(retryBeforeFirstToken({ ...quick, preamble: 'passthrough' }));
      expectObservable(result).toBe(expected);
      expectSubscriptions(first.subscriptions).toBe(firstsubs);
      expectSubscriptions(second.subscriptions).toBe(secondsubs);
    }),
  );

  it(
    'takes the text of any choice for the token',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const n2 = { c: chat.role(), d: chat.role({ choice: 1 }), t: chat.text('Hi', { choice: 1 }) };
      const e1 = cold('       -c-d-t----#', n2, cut);
      const e1subs = '        ^---------!';
      const expected = '      -----(cdt)#';

      expectObservable(e1.pipe(retryBeforeFirstToken(quick))).toBe(expected, n2, cut);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'knows the preambles of all endpoints',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answers = {
        chatCompletions: { c: chat.role(), d: chat.role(), t: chat.text('Hi') },
        responses: { c: responses.created(), d: responses.inProgress(), t: responses.text('Hi') },
        messages: { c: messages.start(), d: messages.ping(), t: messages.text('Hi') },
        images: { c: { type: 'keepalive' }, d: { type: 'ping' }, t: images.partial('aGk=') },
      };
      for (const answer of Object.values(answers)) {
        const e1 = cold<object>('-c-d-#                ', answer, cut);
        const e2 = cold<object>('          -c-d-t-----|', answer);
        const e1subs = '         ^----!                ';
        const e2subs = '         ----------^----------!';
        const expected = '       ---------------(cdt)-|';

        expectObservable(inTurn(e1, e2).pipe(retryBeforeFirstToken(quick))).toBe(expected, answer);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
        expectSubscriptions(e2.subscriptions).toBe(e2subs);
      }
    }),
  );

  it(
    'takes whatever is no event for a token',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --a--#', { a: { event: 'a', data: '{}' } }, busy);
      const e2 = cold('       --a--#', { a: undefined }, busy);
      const e3 = cold('       --a--#', { a: { id: 'call_1', name: 'weather' } }, busy);
      const e4 = cold('       --a--#', { a: { type: 'message_start', data: '{}' } }, busy);
      const e1subs = '        ^----!';
      const expected = '      --a--#';

      for (const source of [e1, e2, e3, e4]) {
        const a = source.messages[0]!.notification;
        const result = (source as Observable<unknown>).pipe(retryBeforeFirstToken(quick));
        expectObservable(result).toBe(expected, { a: a.kind === 'N' ? a.value : a }, busy);
        expectSubscriptions(source.subscriptions).toBe(e1subs);
      }
    }),
  );

  // Which errors

  it(
    'passes on an error that is not retryable',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-#   ', undefined, wrong);
      const e1subs = '        ^--!   ';
      const expected = '      ---(c#)';

      expectObservable(e1.pipe(retryBeforeFirstToken(quick))).toBe(expected, undefined, wrong);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'passes on errors of other libraries, unless shouldRetry says otherwise',
    marbles(values, ({ cold, expectObservable }) => {
      const foreign = new TypeError('Failed to fetch');
      const first = cold('    ---#        ', undefined, foreign);
      const second = cold('           -t-|');
      const expected = '      ---#        ';
      const retried = '       ---------t-|';

      expectObservable(inTurn(first, second).pipe(retryBeforeFirstToken(quick))).toBe(expected, undefined, foreign);
      const shouldRetry = (error: unknown) => error instanceof TypeError;
      expectObservable(inTurn(first, second).pipe(retryBeforeFirstToken({ ...quick, shouldRetry }))).toBe(retried);
    }),
  );

  it(
    'retries a retryable error of another copy of this package',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const foreign = Object.assign(new Error('busy'), { kind: 'http', retryable: true, tokenSeen: false });
      const first = cold('    ---#        ', undefined, foreign);
      const second = cold('           -t-|');
      const firstsubs = '     ^--!        ';
      const secondsubs = '    --------^--!';
      const expected = '      ---------t-|';

      expectObservable(inTurn(first, second).pipe(retryBeforeFirstToken(quick))).toBe(expected);
      expectSubscriptions(first.subscriptions).toBe(firstsubs);
      expectSubscriptions(second.subscriptions).toBe(secondsubs);
    }),
  );

  it(
    'lets shouldRetry refuse a retryable error, and tells it which retry it would be',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       ---#        ', undefined, busy);
      const e1subs1 = '       ^--!        ';
      const e1subs2 = '       --------^--!';
      const expected = '      -----------#';

      const shouldRetry = (error: unknown, attempt: number) => error === busy && attempt < 2;
      const result = e1.pipe(retryBeforeFirstToken({ ...quick, shouldRetry }));
      expectObservable(result).toBe(expected, undefined, busy);
      expectSubscriptions(e1.subscriptions).toBe([e1subs1, e1subs2]);
    }),
  );

  it.each([
    ['an abort', new DOMException('The user left', 'AbortError')],
    ['an error with tokenSeen', new TruncatedStreamError('cut', { retryable: true, tokenSeen: true })],
  ])('never retries %s, whatever shouldRetry says', (_, error) => {
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-#   ', undefined, error);
      const e1subs = '        ^--!   ';
      const expected = '      ---(c#)';

      const result = e1.pipe(retryBeforeFirstToken({ ...quick, shouldRetry: () => true }));
      expectObservable(result).toBe(expected, undefined, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    })();
  });

  it(
    'never retries with a count of 0',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-#   ', undefined, busy);
      const e1subs = '        ^--!   ';
      const expected = '      ---(c#)';

      expectObservable(e1.pipe(retryBeforeFirstToken({ count: 0 }))).toBe(expected, undefined, busy);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  // Waits

  it(
    'waits half a second, and twice as long each time, up to 8 seconds',
    marbles(values, ({ cold, expectObservable }) => {
      const e1 = cold('       #', undefined, busy);
      const expected = '      500ms 1s 2s 4s 8s 8s #';

      const result = e1.pipe(retryBeforeFirstToken({ count: 6, random: () => 0 }));
      expectObservable(result).toBe(expected, undefined, busy);
    }),
  );

  it(
    'cuts its waits by up to a quarter',
    marbles(values, ({ cold, expectObservable }) => {
      const e1 = cold('       #', undefined, busy);
      const expected = '      375ms 1s #';

      const random = [1, 0];
      const result = e1.pipe(retryBeforeFirstToken({ random: () => random.shift()! }));
      expectObservable(result).toBe(expected, undefined, busy);
    }),
  );

  it(
    'keeps a first delay of more than 8 seconds',
    marbles(values, ({ cold, expectObservable }) => {
      const e1 = cold('       #', undefined, busy);
      const expected = '      20s 20s #';

      const result = e1.pipe(retryBeforeFirstToken({ delay: 20_000, random: () => 0 }));
      expectObservable(result).toBe(expected, undefined, busy);
    }),
  );

  it(
    'waits as long as the server asks, without jitter',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const limited = new HttpResponseError('429', { retryable: true, retryAfterMs: 7000 });
      const first = cold('    -#    ', undefined, limited);
      const second = cold('        t|');
      const firstsubs = '     ^!    ';
      const secondsubs = '    - 7s ^!';
      const expected = '      - 7s t|';

      const result = inTurn(first, second).pipe(retryBeforeFirstToken({ random: () => 1 }));
      expectObservable(result).toBe(expected);
      expectSubscriptions(first.subscriptions).toBe(firstsubs);
      expectSubscriptions(second.subscriptions).toBe(secondsubs);
    }),
  );

  it(
    'raises the error at once when the server asks for more than maxDelayMs',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const limited = new HttpResponseError('429', { retryable: true, retryAfterMs: 60_001 });
      const e1 = cold('       -c-#   ', undefined, limited);
      const e1subs = '        ^--!   ';
      const expected = '      ---(c#)';

      expectObservable(e1.pipe(retryBeforeFirstToken())).toBe(expected, undefined, limited);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'waits for anything from nothing to maxDelayMs',
    marbles(values, ({ cold, expectObservable }) => {
      const asking = (retryAfterMs: number) => new HttpResponseError('', { retryable: true, retryAfterMs });
      const e1 = cold('       #     ', undefined, asking(0));
      const e2 = cold('       #     ', undefined, asking(60_000));
      const e3 = cold('       #     ', undefined, asking(9));
      const answer = cold('       t|');
      const expected1 = '         t|';
      const expected2 = '     1m  t|';
      const expected3 = '     9ms t|';

      expectObservable(inTurn(e1, answer).pipe(retryBeforeFirstToken())).toBe(expected1);
      expectObservable(inTurn(e2, answer).pipe(retryBeforeFirstToken())).toBe(expected2);
      expectObservable(inTurn(e3, answer).pipe(retryBeforeFirstToken({ maxDelayMs: 9 }))).toBe(expected3);
    }),
  );

  it.each([-1, NaN, null, '7'])('takes no advice from an error whose retryAfterMs is %p', (retryAfterMs) => {
    marbles(values, ({ cold, expectObservable }) => {
      const first = cold('    #      ', undefined, { kind: 'http', retryable: true, retryAfterMs });
      const second = cold('        t|');
      const expected = '      -----t|';

      expectObservable(inTurn(first, second).pipe(retryBeforeFirstToken(quick))).toBe(expected);
    })();
  });

  it(
    'leaves the wait to a delay function, for which the server is no more than advice',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const limited = new HttpResponseError('429', { retryable: true, retryAfterMs: 90_000 });
      const e1 = cold('       -#              ', undefined, limited);
      const e1subs1 = '       ^!              ';
      const e1subs2 = '       - 10ms ^!       ';
      const e1subs3 = '       - 10ms - 20ms ^!';
      const expected = '      - 10ms - 20ms -#';

      const delay = (error: unknown, attempt: number) => (error === limited ? attempt * 10 : NaN);
      expectObservable(e1.pipe(retryBeforeFirstToken({ delay }))).toBe(expected, undefined, limited);
      expectSubscriptions(e1.subscriptions).toBe([e1subs1, e1subs2, e1subs3]);
    }),
  );

  it(
    'starts the next try at the first value of a notifier',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold('    --#          ', undefined, busy);
      const online = cold('     ---x-x|    ');
      const second = cold('          -t-|  ');
      const onlinesubs = '    --^--!       ';
      const expected = '      ------t-|    ';

      expectObservable(inTurn(first, second).pipe(retryBeforeFirstToken({ delay: () => online }))).toBe(expected);
      expectSubscriptions(online.subscriptions).toBe(onlinesubs);
    }),
  );

  it(
    'gives up when a notifier completes without a value, and fails with it when it fails',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c#        ', undefined, busy);
      const silent = cold('     ---|     ');
      const broken = cold('     ---#     ', undefined, wrong);
      const subs = '          --^--!     ';
      const expected = '      -----(c#)  ';

      expectObservable(e1.pipe(retryBeforeFirstToken({ delay: () => silent }))).toBe(expected, undefined, busy);
      expectObservable(e1.pipe(retryBeforeFirstToken({ delay: () => broken }))).toBe(expected, undefined, wrong);
      expectSubscriptions(silent.subscriptions).toBe(subs);
      expectSubscriptions(broken.subscriptions).toBe(subs);
    }),
  );

  it('takes a synchronous notifier', () => {
    const seen: unknown[] = [];
    inTurn(
      throwError(() => busy),
      throwError(() => busy),
      of(values.c, values.t),
    )
      .pipe(retryBeforeFirstToken({ delay: () => of(1) }))
      .subscribe((event) => seen.push(event));
    expect(seen).toEqual([values.c, values.t]);
  });

  // Callbacks

  it(
    'tells onRetry what failed, in which phase, and how long it is going to wait',
    marbles(values, ({ cold, expectObservable, flush }) => {
      const refused = new ConnectionError('refused', { retryable: true });
      const slow = new StreamTimeoutError('slow', 'headers', { retryable: true });
      const silent = new StreamTimeoutError('silent', 'firstToken', { retryable: true });
      const overloaded = new StreamEventError('overloaded', { retryable: true });
      const failures = [refused, busy, slow, silent, cut, overloaded].map((error) => throwError(() => error));
      const answer = cold('         t|');
      const expected = '      315ms t|';

      const infos: RetryInfo[] = [];
      const result = inTurn(...failures, answer).pipe(
        retryBeforeFirstToken({ ...quick, count: 6, onRetry: (info) => infos.push(info) }),
      );
      expectObservable(result).toBe(expected);
      flush();
      expect(infos).toEqual([
        { error: refused, attempt: 1, delayMs: 5, phase: 'connection' },
        { error: busy, attempt: 2, delayMs: 10, phase: 'http' },
        { error: slow, attempt: 3, delayMs: 20, phase: 'connection' },
        { error: silent, attempt: 4, delayMs: 40, phase: 'stream' },
        { error: cut, attempt: 5, delayMs: 80, phase: 'stream' },
        { error: overloaded, attempt: 6, delayMs: 160, phase: 'stream' },
      ]);
    }),
  );

  it(
    'goes by what has come for the phase of errors that it does not know',
    marbles(values, ({ cold, expectObservable, expectSubscriptions, flush }) => {
      const first = cold('    #   ');
      const second = cold('    c# ');
      const third = cold('       #');
      const firstsubs = '     (^!)';
      const secondsubs = '    -^!';
      const thirdsubs = '     ---(^!)';
      const expected = '      ---#';

      const phases: [string, number | undefined][] = [];
      const onRetry = ({ phase, delayMs }: RetryInfo) => phases.push([phase, delayMs]);
      const config = { delay: () => timer(1), shouldRetry: () => true, onRetry };
      expectObservable(inTurn(first, second, third).pipe(retryBeforeFirstToken(config))).toBe(expected);
      expectSubscriptions(first.subscriptions).toBe(firstsubs);
      expectSubscriptions(second.subscriptions).toBe(secondsubs);
      expectSubscriptions(third.subscriptions).toBe(thirdsubs);
      flush();
      expect(phases).toEqual([
        ['connection', undefined],
        ['stream', undefined],
      ]);
    }),
  );

  it.each(['shouldRetry', 'delay', 'onRetry', 'random'] as const)('raises what %s throws', (name) => {
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const thrown = new Error('bug');
      const e1 = cold('       -c-#   ', undefined, busy);
      const e1subs = '        ^--!   ';
      const expected = '      ---(c#)';

      const result = e1.pipe(
        retryBeforeFirstToken({
          [name]: () => {
            throw thrown;
          },
        }),
      );
      expectObservable(result).toBe(expected, undefined, thrown);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    })();
  });

  it('refuses a bare number at once', () => {
    expect(() => retryBeforeFirstToken(3 as never)).toThrow(
      new TypeError('retryBeforeFirstToken: give it a config, as in { count: 3 }'),
    );
  });

  it.each([{ count: -1 }, { count: NaN }, { delay: -1 }, { maxDelayMs: -1 }])('refuses %p at once', (config) => {
    expect(() => retryBeforeFirstToken(config)).toThrow(RangeError);
    expect(() => retryBeforeFirstToken(config)).toThrow(Object.keys(config)[0]);
  });

  // Unsubscribing

  it(
    'ends the try that is running when it is unsubscribed from',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --t-u-e-|');
      const e1subs = '        ^----!   ';
      const unsub = '         -----!   ';
      const expected = '      --t-u-   ';

      expectObservable(e1.pipe(retryBeforeFirstToken()), unsub).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'never tries again when it is unsubscribed from while it waits',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -#         ', undefined, busy);
      const e1subs = '        ^!         ';
      const unsub = '         ---!       ';
      const expected = '      -----------';

      expectObservable(e1.pipe(retryBeforeFirstToken(quick)), unsub).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it('leaves no timer behind when it is unsubscribed from while it waits', () => {
    const scheduler = new VirtualTimeScheduler();
    throwError(() => busy)
      .pipe(retryBeforeFirstToken({ scheduler }))
      .subscribe()
      .unsubscribe();
    scheduler.flush();
    expect(scheduler.frame).toBe(0);
  });

  describe.each([
    ['an AbortError', new DOMException('left', 'AbortError')],
    ['a reason of its own', 'left'],
  ])('of a request whose signal is aborted with %s', (_, reason) => {
    const ask = (helpers: ColdHelpers, config: RetryBeforeFirstTokenConfig, controller = new AbortController()) => {
      const transport = wireTransport(helpers, { marbles: '--(h|)', status: 503 });
      const client = createLlmClient({ baseUrl: 'https://gateway.example/v1', transport });
      const request = client.chatCompletions({ model: 'm', messages: [] }, { signal: controller.signal });
      const result = request.pipe(retryBeforeFirstToken({ delay: 50, random: () => 0, ...config }));
      return { controller, transport, result };
    };

    it(
      'ends the wait at once, and removes its listener',
      marbles((helpers) => {
        const { controller, transport, result } = ask(helpers, {});
        const subs = '          ^-!        ';
        const expected = '      ----------#';

        timer(10).subscribe(() => controller.abort(reason));
        helpers.expectObservable(result).toBe(expected, undefined, reason);
        helpers.expectSubscriptions(transport.subscriptions).toBe(subs);
        helpers.flush();
        expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
      }),
    );

    it(
      'does not begin to wait, whatever shouldRetry says',
      marbles((helpers) => {
        const controller = new AbortController();
        const { transport, result } = ask(helpers, { shouldRetry: () => true }, controller);
        const subs = '          ^!';
        const expected = '      -#';

        timer(1).subscribe(() => controller.abort(reason));
        helpers.expectObservable(result).toBe(expected, undefined, reason);
        helpers.expectSubscriptions(transport.subscriptions).toBe(subs);
      }),
    );

    it(
      'does not begin to wait when onRetry aborts it',
      marbles((helpers) => {
        const controller = new AbortController();
        const { transport, result } = ask(helpers, { onRetry: () => controller.abort(reason) }, controller);
        const subs = '          ^-!';
        const expected = '      --#';

        helpers.expectObservable(result).toBe(expected, undefined, reason);
        helpers.expectSubscriptions(transport.subscriptions).toBe(subs);
      }),
    );
  });

  it(
    'goes on after a signal that timed out, which was meant for one try',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const late = new DOMException('late', 'TimeoutError');
      const first = cold('    -----#       ');
      const second = cold('          --a|  ', { a: sse.whole(chat.turn('Hi')) });
      const firstsubs = '     ^---!        ';
      const secondsubs = '    -------^--!  ';
      const expected = '      ---------(x|)';

      const bodies = inTurn<Uint8Array | string>(first, second);
      const transport = () => of({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: bodies });
      const client = createLlmClient({ baseUrl: 'https://gateway.example/v1', transport });
      const source = defer(() => {
        const controller = new AbortController();
        timer(4).subscribe(() => controller.abort(late));
        return client.chatCompletions({ model: 'm', messages: [] }, { signal: controller.signal });
      });
      const shouldRetry = (error: unknown) => error === late;
      const result = source.pipe(retryBeforeFirstToken({ delay: 3, random: () => 0, shouldRetry }), textDeltas());
      expectObservable(result).toBe(expected, { x: 'Hi' });
      expectSubscriptions(first.subscriptions).toBe(firstsubs);
      expectSubscriptions(second.subscriptions).toBe(secondsubs);
    }),
  );

  it('keeps nothing of a wait that is over', () => {
    const scheduler = new VirtualTimeScheduler();
    const schedule = jest.spyOn(scheduler, 'schedule');
    const isOpen = ({ value }: { value: unknown }): boolean => !(value as Subscription).closed;
    const open: number[] = [];
    const source = defer(() => {
      open.push(schedule.mock.results.filter(isOpen).length);
      return throwError(() => busy);
    });
    source.pipe(retryBeforeFirstToken({ count: 4, scheduler })).subscribe({ error: () => undefined });
    scheduler.flush();
    // The one that ends in this try.
    expect(open).toEqual([0, 1, 1, 1, 1]);
  });

  it(
    'subscribes to no notifier once onRetry has unsubscribed',
    marbles(values, ({ cold, flush, expectSubscriptions }) => {
      const e1 = cold('       -#         ', undefined, busy);
      const e1subs = '        ^!         ';
      const online = cold('    -x        ');
      const onlinesubs: string[] = [];

      const result = e1.pipe(retryBeforeFirstToken({ delay: () => online, onRetry: () => subscription.unsubscribe() }));
      const subscription = result.subscribe();
      flush();
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
      expectSubscriptions(online.subscriptions).toBe(onlinesubs);
    }),
  );

  it(
    'unsubscribes from a notifier when it is unsubscribed from',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -#         ', undefined, busy);
      const e1subs = '        ^!         ';
      const online = cold('    ------x   ');
      const onlinesubs = '    -^-!       ';
      const unsub = '         ---!       ';
      const expected = '      ----       ';

      expectObservable(e1.pipe(retryBeforeFirstToken({ delay: () => online })), unsub).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
      expectSubscriptions(online.subscriptions).toBe(onlinesubs);
    }),
  );

  it(
    'does not break the chain when the result is unsubscribed from',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --t-u-e-|');
      const e1subs = '        ^----!   ';
      const unsub = '         -----!   ';
      const expected = '      --t-u-   ';

      const result = e1.pipe(
        switchMap((event) => of(event)),
        retryBeforeFirstToken(),
        switchMap((event) => of(event)),
      );
      expectObservable(result, unsub).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'emits no more of what it held once the subscriber has enough',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-t-u-|');
      const e1subs = '        ^--!    ';
      const expected = '      ---(c|) ';

      expectObservable(e1.pipe(retryBeforeFirstToken(), take(1))).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it('tears a source down before it waits, also one that fails while it is being subscribed to', () => {
    const log: string[] = [];
    const failing = new Observable<never>((subscriber) => {
      subscriber.error(busy);
      return () => log.push('gone');
    });
    failing
      .pipe(retryBeforeFirstToken({ delay: () => (log.push('wait'), NEVER) }))
      .subscribe()
      .unsubscribe();
    expect(log).toEqual(['gone', 'wait']);
  });

  it('tears a source down before it waits, also one that fails later', () => {
    const log: string[] = [];
    const source = new Subject<never>();
    const failing = new Observable<never>((subscriber) => {
      subscriber.add(() => log.push('gone'));
      source.subscribe({ error: (error) => subscriber.error(error) });
    });
    const waiting = failing.pipe(retryBeforeFirstToken({ delay: () => (log.push('wait'), NEVER) })).subscribe();
    source.error(busy);
    expect(log).toEqual(['gone', 'wait']);
    waiting.unsubscribe();
  });

  // Synchronous sources and re-entrancy

  it('stops a synchronous source in the middle', () => {
    const emitted: unknown[] = [];
    const seen: unknown[] = [];
    of(values.c, values.t, values.u)
      .pipe(
        tap((event) => emitted.push(event)),
        retryBeforeFirstToken(),
        take(2),
      )
      .subscribe((event) => seen.push(event));
    expect(seen).toEqual([values.c, values.t]);
    expect(emitted).toEqual([values.c, values.t]);
  });

  it('keeps the order when an event is pushed while held ones are delivered', () => {
    const e1 = new Subject<object>();
    const seen: unknown[] = [];
    let done = false;
    e1.pipe(retryBeforeFirstToken()).subscribe({
      next(event) {
        seen.push(event);
        if (event === values.c) {
          e1.next(values.u);
          e1.complete();
        }
      },
      complete: () => (done = true),
    });
    e1.next(values.c);
    e1.next(values.t);
    expect(seen).toEqual([values.c, values.t, values.u]);
    expect(done).toBe(true);
  });

  it('does not fill the memory with events that are no tokens', () => {
    const e1 = new Subject<object>();
    let seen = 0;
    e1.pipe(retryBeforeFirstToken()).subscribe(() => seen++);
    for (let i = 0; i < 10_000; i++) e1.next(messages.ping());
    expect(seen).toBe(10_000);
  });

  // Among other operators

  it(
    'starts afresh with each subscription',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -#        ', undefined, busy);
      const sub1 = '          ^         ';
      const sub2 = '          --^       ';
      const e1subs = [
        '                     ^!        ',
        '                     --^!      ',
        '                     ------^!  ',
        '                     --------^!',
      ];
      const expected1 = '     -------#  ';
      const expected2 = '     ---------#';

      const result = e1.pipe(retryBeforeFirstToken({ ...quick, count: 1 }));
      expectObservable(result, sub1).toBe(expected1, undefined, busy);
      expectObservable(result, sub2).toBe(expected2, undefined, busy);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'does not repeat an answer whose tokens another operator swallowed, as far as the error tells',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const late = new TruncatedStreamError('cut', { retryable: true, tokenSeen: true });
      const e1 = cold('       -t-#', undefined, late);
      const e1subs = '        ^--!';
      const expected = '      ---#';

      expectObservable(e1.pipe(ignoreElements(), retryBeforeFirstToken(quick))).toBe(expected, undefined, late);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'counts a token that a retry inside has seen, whatever lies between the two',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -t-#', undefined, cut);
      const e1subs = '        ^--!';
      const expected = '      ---#';

      const result = e1.pipe(retryBeforeFirstToken(quick), toArray(), retryBeforeFirstToken(quick));
      expectObservable(result).toBe(expected, undefined, cut);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'may stand after operators that give no events',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold('    ---#          ', undefined, cut);
      const second = cold('           -t-#  ', undefined, cut);
      const secondsubs = '    --------^--!  ';
      const expected = '      ---------x-#  ';

      const result = inTurn(first, second).pipe(
        map((event) => event.id),
        retryBeforeFirstToken(quick),
      );
      expectObservable(result).toBe(expected, { x: 'chatcmpl-1' }, cut);
      expectSubscriptions(second.subscriptions).toBe(secondsubs);
    }),
  );

  it(
    'serves several subscribers with one try under share',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold('    -#           ', undefined, busy);
      const second = cold('         -t-u-| ');
      const secondsubs = '    ------^----! ';
      const expected = '      -------t-u-| ';

      const result = inTurn(first, second).pipe(retryBeforeFirstToken(quick), share());
      expectObservable(result).toBe(expected);
      expectObservable(result).toBe(expected);
      expectSubscriptions(second.subscriptions).toBe(secondsubs);
    }),
  );

  it(
    'has all its tries again with each repeat',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const failing = cold('  #            ', undefined, busy);
      const first = cold('         t|      ');
      const second = cold('              u|');
      const failingsubs1 = '  (^!)         ';
      const failingsubs2 = '  ------(^!)   ';
      const expected = '      -----t-----u|';

      const e1 = inTurn(failing, first, failing, second);
      const result = e1.pipe(retryBeforeFirstToken({ ...quick, count: 1 }), repeat(2));
      expectObservable(result).toBe(expected);
      expectSubscriptions(failing.subscriptions).toBe([failingsubs1, failingsubs2]);
    }),
  );

  it(
    'forgets a wait when switchMap goes on to another request',
    marbles(values, ({ cold, hot, expectObservable, expectSubscriptions }) => {
      const questions = hot(' a---b-------|');
      const a = cold('        -#           ', undefined, busy);
      const b = cold('            --t-|    ');
      const asubs = '         ^!           ';
      const expected = '      ------t-----|';

      const result = questions.pipe(switchMap((q) => (q === 'a' ? a : b).pipe(retryBeforeFirstToken(quick))));
      expectObservable(result).toBe(expected);
      expectSubscriptions(a.subscriptions).toBe(asubs);
    }),
  );

  it(
    'multiplies its tries when it is nested',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c#                   ', undefined, cut);
      const e1subs = [
        '                     ^-!                   ',
        '                     -------^-!            ',
        '                     --------------^-!     ',
        '                     ---------------------^-!',
      ];
      const expected = '      -----------------------(c#)';

      const once = retryBeforeFirstToken<object>({ ...quick, count: 1 });
      expectObservable(e1.pipe(once, once)).toBe(expected, undefined, cut);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'retries the whole of a concatenation only before its first token',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold('    -t|   ');
      const second = cold('     -#  ', undefined, busy);
      const firstsubs = '     ^-!   ';
      const expected = '      -t-#  ';

      const result = concat(first, second).pipe(retryBeforeFirstToken(quick));
      expectObservable(result).toBe(expected, undefined, busy);
      expectSubscriptions(first.subscriptions).toBe(firstsubs);
    }),
  );
});
