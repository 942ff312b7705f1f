import { defer, map, NEVER, Observable, of, Subject, take, tap, throwError, timer, toArray } from 'rxjs';
import {
  createLlmClient,
  fallbackBeforeFirstToken,
  HttpResponseError,
  type LlmStreamError,
  retryBeforeFirstToken,
  TruncatedStreamError,
} from 'rx-llm';
import { chat, fakeLlmClient, images, marbles, messages, responses } from 'rx-llm/testing';

describe('fallbackBeforeFirstToken', () => {
  // c and d: role chunks of two models, which are no tokens; t and u: text
  const values = {
    c: chat.role({ model: 'large' }),
    d: chat.role({ model: 'small' }),
    t: chat.text('Hel'),
    u: chat.text('lo'),
  };
  const busy = new HttpResponseError('busy', { status: 503, retryable: true });
  const refused = new HttpResponseError('refused', { status: 401 });
  const cut = new TruncatedStreamError('cut', { retryable: true });

  it(
    'mirrors a source that does not fail',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --t-u-|');
      const e2 = cold('       --u---|');
      const e1subs = '        ^-----!';
      const expected = '      --t-u-|';

      expectObservable(e1.pipe(fallbackBeforeFirstToken(e2))).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
      expectSubscriptions(e2.subscriptions).toBe([]);
    }),
  );

  it(
    'goes on with the next when one fails before its first token',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --#          ', undefined, busy);
      const e2 = cold('         --#        ', undefined, refused);
      const e3 = cold('           --t-u-|  ');
      const e1subs = '        ^-!          ';
      const e2subs = '        --^-!        ';
      const e3subs = '        ----^-----!  ';
      const expected = '      ------t-u-|  ';

      expectObservable(e1.pipe(fallbackBeforeFirstToken(e2, e3))).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
      expectSubscriptions(e2.subscriptions).toBe(e2subs);
      expectSubscriptions(e3.subscriptions).toBe(e3subs);
    }),
  );

  it(
    'stays with a source that fails after a token',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --t-#', undefined, cut);
      const e2 = cold('       --u-|');
      const expected = '      --t-#';

      expectObservable(e1.pipe(fallbackBeforeFirstToken(e2))).toBe(expected, undefined, cut);
      expectSubscriptions(e2.subscriptions).toBe([]);
    }),
  );

  it(
    'shows the preamble of the one that answers, and of no other',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-#          ', undefined, cut);
      const e2 = cold('          -d-t----u-|');
      const e1subs = '        ^--!          ';
      const e2subs = '        ---^---------!';
      const expected = '      ------(dt)-u-|';

      expectObservable(e1.pipe(fallbackBeforeFirstToken(e2))).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
      expectSubscriptions(e2.subscriptions).toBe(e2subs);
    }),
  );

  it(
    'delivers what the last one held, and then its error',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-#       ', undefined, busy);
      const e2 = cold('          -d-#    ', undefined, refused);
      const e1subs = '        ^--!       ';
      const e2subs = '        ---^--!    ';
      const expected = '      ------(d#) ';

      expectObservable(e1.pipe(fallbackBeforeFirstToken(e2))).toBe(expected, undefined, refused);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
      expectSubscriptions(e2.subscriptions).toBe(e2subs);
    }),
  );

  it(
    'completes with a source that has no token, and does not fall back',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-|   ');
      const e1subs = '        ^--!   ';
      const expected1 = '     ---(c|)';
      const e2 = cold('       |      ');
      const expected2 = '     |      ';
      const e3 = cold('       -t-|   ');
      const e3subs: string[] = [];

      expectObservable(e1.pipe(fallbackBeforeFirstToken(e3))).toBe(expected1);
      expectObservable(e2.pipe(fallbackBeforeFirstToken(e3))).toBe(expected2);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
      expectSubscriptions(e3.subscriptions).toBe(e3subs);
    }),
  );

  it(
    'may fall back to another endpoint',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const events = { c: responses.created(), s: messages.start(), m: messages.text('Hi') };
      const e1 = cold<object>('-c-#         ', events, busy);
      const e2 = cold<object>('   -s-m-----|', events);
      const e1subs = '         ^--!        ';
      const e2subs = '         ---^--------!';
      const expected = '       ------(sm)--|';

      expectObservable(e1.pipe(fallbackBeforeFirstToken(e2))).toBe(expected, events);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
      expectSubscriptions(e2.subscriptions).toBe(e2subs);
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
        const e1 = cold<object>('-c-d-#           ', answer, cut);
        const e2 = cold<object>('     -c-d-t-----|', answer);
        const e1subs = '         ^----!           ';
        const e2subs = '         -----^----------!';
        const expected = '       ----------(cdt)-|';

        expectObservable(e1.pipe(fallbackBeforeFirstToken(e2))).toBe(expected, answer);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
        expectSubscriptions(e2.subscriptions).toBe(e2subs);
      }
    }),
  );

  it(
    'passes the error on when there is nothing to fall back to',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-#   ', undefined, busy);
      const e1subs = '        ^--!   ';
      const expected = '      ---(c#)';

      expectObservable(e1.pipe(fallbackBeforeFirstToken())).toBe(expected, undefined, busy);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'makes the next one from the error, when it is needed',
    marbles(values, ({ cold, expectObservable, expectSubscriptions, flush }) => {
      const e1 = cold('       --#   ', undefined, busy);
      const e2 = cold('         -t-|');
      const e1subs = '        ^-!   ';
      const e2subs = '        --^--!';
      const expected = '      ---t-|';

      const make = jest.fn(() => e2);
      const unused = jest.fn(() => NEVER);
      expectObservable(e1.pipe(fallbackBeforeFirstToken(make, unused))).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
      expectSubscriptions(e2.subscriptions).toBe(e2subs);
      expect(make).not.toHaveBeenCalled();
      flush();
      expect(make.mock.calls).toEqual([[busy]]);
      expect(unused).not.toHaveBeenCalled();
    }),
  );

  it(
    'ends with what a function throws',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-#   ', undefined, refused);
      const e2 = cold('       -t-|   ');
      const expected = '      ---(c#)';

      const unlessRefused = (error: unknown) => {
        if (error === refused) throw refused;
        return e2;
      };
      expectObservable(e1.pipe(fallbackBeforeFirstToken(unlessRefused, e2))).toBe(expected, undefined, refused);
      expectSubscriptions(e2.subscriptions).toBe([]);
    }),
  );

  it('takes anything that an Observable can be made from', async () => {
    const source = throwError(() => busy).pipe(fallbackBeforeFirstToken(() => Promise.resolve('late')));
    const seen: unknown[] = [];
    await source.forEach((value) => seen.push(value));
    expect(seen).toEqual(['late']);
  });

  it.each([
    ['an abort', new DOMException('The user left', 'AbortError')],
    ['an error with tokenSeen', new TruncatedStreamError('cut', { tokenSeen: true })],
  ])('does not fall back on %s', (_, error) => {
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-#   ', undefined, error);
      const e2 = cold('       -t-|   ');
      const expected = '      ---(c#)';

      expectObservable(e1.pipe(fallbackBeforeFirstToken(e2))).toBe(expected, undefined, error);
      expectSubscriptions(e2.subscriptions).toBe([]);
    })();
  });

  describe('of a request whose signal aborts after 5 ms', () => {
    const abortedWith = (reason: unknown) => {
      const client = createLlmClient({ baseUrl: 'https://gateway.example/v1', transport: () => NEVER });
      const controller = new AbortController();
      timer(5).subscribe(() => controller.abort(reason));
      return client.chatCompletions({ model: 'm', messages: [] }, { signal: controller.signal });
    };

    it(
      'does not fall back, with whatever reason it was aborted',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e2 = cold('            t-|');
        const e2subs: string[] = [];
        const expected = '      -----#  ';

        expectObservable(abortedWith('left').pipe(fallbackBeforeFirstToken(e2))).toBe(expected, undefined, 'left');
        expectSubscriptions(e2.subscriptions).toBe(e2subs);
      }),
    );

    it(
      'falls back when the signal has timed out',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const late = new DOMException('late', 'TimeoutError');
        const e2 = cold('            t-|');
        const e2subs = '        -----^-!';
        const expected = '      -----t-|';

        expectObservable(abortedWith(late).pipe(fallbackBeforeFirstToken(e2))).toBe(expected);
        expectSubscriptions(e2.subscriptions).toBe(e2subs);
      }),
    );
  });

  it(
    'takes whatever is no event for a token',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --t-#', undefined, cut);
      const e2 = cold('       --u-|');
      const expected = '      --x-#';

      const result = e1.pipe(
        map((event) => event.id),
        fallbackBeforeFirstToken(e2),
      );
      expectObservable(result).toBe(expected, { x: 'chatcmpl-1' }, cut);
      expectSubscriptions(e2.subscriptions).toBe([]);
    }),
  );

  // Errors

  it('lists the errors of all candidates on the one that is raised, and leaves them out of JSON', () => {
    const last = new HttpResponseError('last', { status: 500 });
    let raised: unknown;
    throwError(() => busy)
      .pipe(
        fallbackBeforeFirstToken(
          throwError(() => refused),
          throwError(() => last),
        ),
      )
      .subscribe({ error: (error: unknown) => (raised = error) });
    expect(raised).toBe(last);
    expect((raised as LlmStreamError).errors).toEqual([busy, refused, last]);
    expect(JSON.parse(JSON.stringify(raised))).not.toHaveProperty('errors');
  });

  it('lists the errors of each subscription anew, though one error is raised by all', () => {
    const firsts = [busy, cut];
    const source = defer(() => throwError(() => firsts.shift())).pipe(
      fallbackBeforeFirstToken(throwError(() => refused)),
    );
    const lists: unknown[] = [];
    for (let i = 0; i < 2; i++) {
      source.subscribe({ error: (error: unknown) => lists.push((error as LlmStreamError).errors) });
    }
    expect(lists).toEqual([
      [busy, refused],
      [cut, refused],
    ]);
  });

  it('lists the errors up to what a function throws', () => {
    const thrown = new Error('bug');
    let raised: unknown;
    throwError(() => busy)
      .pipe(
        fallbackBeforeFirstToken(() => {
          throw thrown;
        }),
      )
      .subscribe({ error: (error: unknown) => (raised = error) });
    expect(raised).toBe(thrown);
    expect(raised).toHaveProperty('errors', [busy, thrown]);
  });

  it.each([[Object.freeze(new Error('frozen'))], ['text'], [null]])('raises %p as it is', (error) => {
    let raised: unknown = 'nothing';
    throwError(() => busy)
      .pipe(fallbackBeforeFirstToken(throwError(() => error)))
      .subscribe({ error: (caught: unknown) => (raised = caught) });
    expect(raised).toBe(error);
  });

  // Unsubscribing, and what is left of those that failed

  it(
    'ends the one that is being read when it is unsubscribed from, and starts no other',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --#       ', undefined, busy);
      const e2 = cold('         -t-u-|  ');
      const e3 = cold('         -t-u-|  ');
      const e2subs = '        --^--!    ';
      const unsub = '         -----!    ';
      const expected = '      ---t--    ';

      expectObservable(e1.pipe(fallbackBeforeFirstToken(e2, e3)), unsub).toBe(expected);
      expectSubscriptions(e2.subscriptions).toBe(e2subs);
      expectSubscriptions(e3.subscriptions).toBe([]);
    }),
  );

  it('tears the failed one down before it starts the next', () => {
    const log: string[] = [];
    const candidate = (name: string, error: unknown) =>
      new Observable<never>((subscriber) => {
        log.push(`${name} starts`);
        subscriber.error(error);
        return () => log.push(`${name} is gone`);
      });
    candidate('a', busy)
      .pipe(fallbackBeforeFirstToken(candidate('b', refused), () => (log.push('c is made'), candidate('c', busy))))
      .subscribe({ error: () => log.push('failed') });
    expect(log).toEqual([
      'a starts',
      'a is gone',
      'b starts',
      'b is gone',
      'c is made',
      'c starts',
      'c is gone',
      'failed',
    ]);
  });

  it('starts no other when the subscriber leaves while one is being made', () => {
    const e1 = new Subject<never>();
    let started = false;
    const e2 = new Observable<never>(() => {
      started = true;
    });
    const subscription = e1
      .pipe(
        fallbackBeforeFirstToken(() => {
          subscription.unsubscribe();
          return e2;
        }),
      )
      .subscribe();
    e1.error(busy);
    expect(started).toBe(false);
  });

  it('stops a synchronous source in the middle', () => {
    const emitted: unknown[] = [];
    const seen: unknown[] = [];
    throwError(() => busy)
      .pipe(
        fallbackBeforeFirstToken(of(values.c, values.t, values.u).pipe(tap((event) => emitted.push(event)))),
        take(2),
      )
      .subscribe((event) => seen.push(event));
    expect(seen).toEqual([values.c, values.t]);
    expect(emitted).toEqual([values.c, values.t]);
  });

  it('keeps the order when an event is pushed while held ones are delivered', () => {
    const e1 = new Subject<object>();
    const seen: unknown[] = [];
    e1.pipe(fallbackBeforeFirstToken()).subscribe((event) => {
      seen.push(event);
      if (event === values.c) e1.next(values.u);
    });
    e1.next(values.c);
    e1.next(values.t);
    expect(seen).toEqual([values.c, values.t, values.u]);
  });

  // With retries

  it(
    'tries the source again before it falls back, when the retry stands before it',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c#             ', undefined, busy);
      const e2 = cold('                -d-(t|)');
      const e1subs1 = '       ^-!             ';
      const e1subs2 = '       -------^-!      ';
      const e2subs = '        ---------^--!   ';
      const expected = '      ------------(dt|)';

      const once = retryBeforeFirstToken<object>({ count: 1, delay: 5, random: () => 0 });
      expectObservable(e1.pipe(once, fallbackBeforeFirstToken(e2))).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe([e1subs1, e1subs2]);
      expectSubscriptions(e2.subscriptions).toBe(e2subs);
    }),
  );

  it(
    'has all candidates tried again, when the retry stands after it',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c#             ', undefined, refused);
      const e2 = cold('         -d#           ', undefined, busy);
      const e1subs1 = '       ^-!             ';
      const e2subs1 = '       --^-!           ';
      const e1subs2 = '       ---------^-!    ';
      const e2subs2 = '       -----------^-!  ';
      const expected = '      -------------(d#)';

      const once = retryBeforeFirstToken<object>({ count: 1, delay: 5, random: () => 0 });
      expectObservable(e1.pipe(fallbackBeforeFirstToken(e2), once)).toBe(expected, undefined, busy);
      expectSubscriptions(e1.subscriptions).toBe([e1subs1, e1subs2]);
      expectSubscriptions(e2.subscriptions).toBe([e2subs1, e2subs2]);
    }),
  );

  it(
    'does not fall back after a token that a retry inside has seen, whatever lies between the two',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -t-#', undefined, cut);
      const e2 = cold('       -u-|');
      const expected = '      ---#';

      const result = e1.pipe(retryBeforeFirstToken(), toArray(), fallbackBeforeFirstToken(e2));
      expectObservable(result).toBe(expected, undefined, cut);
      expectSubscriptions(e2.subscriptions).toBe([]);
    }),
  );

  it('refuses what is no source at once, a client for one', () => {
    const client = fakeLlmClient({});
    expect(() => fallbackBeforeFirstToken(client as never)).toThrow(/^fallbackBeforeFirstToken: give it Observables/);
    expect(() => fallbackBeforeFirstToken(undefined as never)).toThrow(TypeError);
  });
});
