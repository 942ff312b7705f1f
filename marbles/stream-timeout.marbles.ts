import { concat, map, merge, NEVER, of, Subject, switchMap, take, tap, VirtualTimeScheduler } from 'rxjs';
import { retryBeforeFirstToken, StreamTimeoutError, streamTimeout, type TimeoutPhase } from 'rx-llm';
import { chat, images, marbles, messages, responses } from 'rx-llm/testing';

describe('streamTimeout', () => {
  // c: the role chunk, which is no token; t and u: text; e: the finish reason
  const values = { c: chat.role(), t: chat.text('Hel'), u: chat.text('lo'), e: chat.finish('stop') };
  /** An error with this phase, and whatever else is to be looked at. */
  const timeout = (phase: TimeoutPhase, fields: object = {}): unknown =>
    expect.objectContaining({ name: 'StreamTimeoutError', kind: 'timeout', phase, retryable: true, ...fields });

  it(
    'mirrors a source that is quick enough',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --c-t-u-e-|');
      const e1subs = '        ^---------!';
      const expected = '      --c-t-u-e-|';

      const result = e1.pipe(streamTimeout({ firstTokenMs: 5, stalledMs: 4, totalMs: 11 }));
      expectObservable(result).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'fails when no token has come in time, whatever else has',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --c-c-c-t-|');
      const e1subs = '        ^-----!    ';
      const expected = '      --c-c-#    ';

      const result = e1.pipe(streamTimeout({ firstTokenMs: 6 }));
      expectObservable(result).toBe(expected, undefined, timeout('firstToken', { tokenSeen: false }));
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'waits for a first token once',
    marbles(values, ({ cold, expectObservable }) => {
      const e1 = cold('       --t-------u-|');
      const expected = '      --t-------u-|';

      expectObservable(e1.pipe(streamTimeout({ firstTokenMs: 5 }))).toBe(expected);
    }),
  );

  it(
    'fails when nothing has come for stalledMs, from the start on',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --t---u-------|');
      const e1subs = '        ^----------!   ';
      const expected1 = '     --t---u----#   ';
      const e2 = cold('       ---------------');
      const e2subs = '        ^----!         ';
      const expected2 = '     -----#         ';

      const clock = streamTimeout<object>({ stalledMs: 5 });
      expectObservable(e1.pipe(clock)).toBe(expected1, undefined, timeout('stalled', { tokenSeen: true }));
      expectObservable(e2.pipe(clock)).toBe(expected2, undefined, timeout('stalled', { tokenSeen: false }));
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
      expectSubscriptions(e2.subscriptions).toBe(e2subs);
    }),
  );

  it(
    'takes neither ping nor keepalive for a sign that the model is at work',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const events = { s: messages.start(), p: messages.ping(), k: { type: 'keepalive' }, m: messages.text('Hi') };
      const e1 = cold<object>('--s-p-k-p-m-|', events);
      const e1subs = '         ^------!';
      const expected = '       --s-p-k#';

      expectObservable(e1.pipe(streamTimeout({ stalledMs: 5 }))).toBe(expected, events, timeout('stalled'));
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'fails when the source has not completed within totalMs',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --t-u-t-u-t-u-|');
      const e1subs = '        ^------!       ';
      const expected = '      --t-u-t#       ';

      expectObservable(e1.pipe(streamTimeout({ totalMs: 7 }))).toBe(expected, undefined, timeout('total'));
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'lets the clock that runs out first speak',
    marbles(values, ({ cold, expectObservable }) => {
      const e1 = cold('       --c---------');
      const expected1 = '     --c---#     ';
      const expected2 = '     --c----#    ';
      const expected3 = '     --c-----#   ';

      const all = e1.pipe(streamTimeout({ firstTokenMs: 6, stalledMs: 5, totalMs: 8 }));
      const two = e1.pipe(streamTimeout({ firstTokenMs: 0, stalledMs: 5, totalMs: 8 }));
      const one = e1.pipe(streamTimeout({ totalMs: 8 }));
      expectObservable(all).toBe(expected1, undefined, timeout('firstToken'));
      expectObservable(two).toBe(expected2, undefined, timeout('stalled'));
      expectObservable(one).toBe(expected3, undefined, timeout('total'));
    }),
  );

  it.each([{}, { firstTokenMs: 0, stalledMs: 0, totalMs: 0 }, { stalledMs: Infinity, totalMs: Infinity }])(
    'sets no clock with %p',
    (config) => {
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('     - 1000s c 1000s t|');
        const expected = '    - 1000s c 1000s t|';

        expectObservable(e1.pipe(streamTimeout(config))).toBe(expected);
      })();
    },
  );

  it(
    'passes the error of its source on',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --t-#');
      const e1subs = '        ^---!';
      const expected = '      --t-#';

      expectObservable(e1.pipe(streamTimeout({ firstTokenMs: 3, stalledMs: 3, totalMs: 5 }))).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'completes with an empty source',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       ---|');
      const e1subs = '        ^--!';
      const expected1 = '     ---|';
      const e2 = cold('       |   ');
      const expected2 = '     |   ';

      expectObservable(e1.pipe(streamTimeout({ totalMs: 5 }))).toBe(expected1);
      expectObservable(e2.pipe(streamTimeout({ totalMs: 5 }))).toBe(expected2);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'knows the tokens of all endpoints',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answers = {
        chatCompletions: { c: chat.role(), t: chat.text('Hi') },
        responses: { c: responses.created(), t: responses.text('Hi') },
        messages: { c: messages.start(), t: messages.text('Hi') },
        images: { c: images.text(''), t: images.partial('aGk=') },
      };
      for (const [endpoint, answer] of Object.entries(answers)) {
        const e1 = cold<object>('  -c-------t|', answer);
        const e1subs = '           ^----!     ';
        const expected1 = '        -c---#     ';
        const e2 = cold<object>('  -c-t-------', answer);
        const e2subs = '           ^---------!';
        const expected2 = '        -c-t------#';

        const late = timeout('firstToken', { endpoint });
        const cut = timeout('total', { endpoint, tokenSeen: true });
        expectObservable(e1.pipe(streamTimeout({ firstTokenMs: 5 }))).toBe(expected1, answer, late);
        expectObservable(e2.pipe(streamTimeout({ firstTokenMs: 5, totalMs: 10 }))).toBe(expected2, answer, cut);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
        expectSubscriptions(e2.subscriptions).toBe(e2subs);
      }
    }),
  );

  it(
    'takes a value that is no event for a token, and for life',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --a--b---------');
      const e1subs = '        ^--------!     ';
      const expected = '      --a--b---#     ';

      const result = e1.pipe(streamTimeout({ firstTokenMs: 3, stalledMs: 4 }));
      expectObservable(result).toBe(expected, undefined, timeout('stalled', { endpoint: undefined, tokenSeen: true }));
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'puts the usage that it has seen into the error',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const usage = { input_tokens: 5, output_tokens: 1 };
      const events = { s: messages.start({ usage }), t: messages.text('Hi') };
      const e1 = cold<object>('-s-t-----', events);
      const e1subs = '         ^----!';
      const expected = '       -s-t-#';

      const seen = expect.objectContaining({ inputTokens: 5, outputTokens: 1 });
      expectObservable(e1.pipe(streamTimeout({ totalMs: 5 }))).toBe(
        expected,
        events,
        timeout('total', { usage: seen }),
      );
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'leaves a client the time to complete an answer that is whole',
    marbles({ ...values, n: chat.usage({ prompt_tokens: 1 }) }, ({ cold, expectObservable }) => {
      const closed = cold('   -t-e-n 4999ms |');
      const expected1 = '     -t-e-n 4999ms |';
      const open = cold('     -t-e-n---------');
      const expected2 = '     -t-e-n 9999ms #';
      const expected3 = '     -t-e-n 19994ms #';

      expectObservable(closed.pipe(streamTimeout({ stalledMs: 1000 }))).toBe(expected1);
      expectObservable(open.pipe(streamTimeout({ stalledMs: 1000 }))).toBe(expected2, undefined, timeout('stalled'));
      expectObservable(open.pipe(streamTimeout({ totalMs: 20_000 }))).toBe(expected3, undefined, timeout('total'));
    }),
  );

  it(
    'watches the second answer of a concatenation as it did the first',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const turn = { s: messages.start(), t: messages.text('Hi'), f: messages.finish('end_turn') };
      const first = cold('    -s-t-f|', turn);
      const second = cold('         -s-t--------', turn);
      const firstsubs = '     ^-----!         ';
      const secondsubs = '    ------^--------!';
      const expected = '      -s-t-f-s-t-----#';

      const result = concat(first, second).pipe(streamTimeout({ stalledMs: 6 }));
      expectObservable(result).toBe(expected, turn, timeout('stalled'));
      expectSubscriptions(first.subscriptions).toBe(firstsubs);
      expectSubscriptions(second.subscriptions).toBe(secondsubs);
    }),
  );

  it('says which clock ran out, how long it was, and what to do', () => {
    for (const [config, what] of [
      [{ firstTokenMs: 50 }, /^No token came within 50 ms \(`firstTokenMs`\)\. Raise it/],
      [{ stalledMs: 60 }, /^No event came for 60 ms \(`stalledMs`\)\. Raise it/],
      [{ totalMs: 70 }, /^The stream was not complete within 70 ms \(`totalMs`\)\. Raise it/],
    ] as const) {
      const scheduler = new VirtualTimeScheduler();
      let raised: unknown;
      NEVER.pipe(streamTimeout({ ...config, scheduler })).subscribe({ error: (error: unknown) => (raised = error) });
      scheduler.flush();
      expect(raised).toBeInstanceOf(StreamTimeoutError);
      expect((raised as Error).message).toMatch(what);
    }
  });

  it.each([{ firstTokenMs: -1 }, { stalledMs: NaN }, { totalMs: '5' as never }])('refuses %p at once', (config) => {
    expect(() => streamTimeout(config)).toThrow(RangeError);
    expect(() => streamTimeout(config)).toThrow(Object.keys(config)[0]);
  });

  it('asks for its clocks when there are none', () => {
    expect(() => (streamTimeout as () => unknown)()).toThrow(
      new TypeError('streamTimeout: give it clocks, as in { stalledMs: 60_000 }'),
    );
  });

  it(
    'clears its timer when it is unsubscribed from',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --t-----');
      const e1subs = '        ^--!    ';
      const unsub = '         ---!    ';
      const expected = '      --t-----';

      expectObservable(e1.pipe(streamTimeout({ stalledMs: 4 })), unsub).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it('leaves no timer behind, however it ends', () => {
    for (const [source, last] of [
      [of(values.c, values.t), undefined],
      [merge(of(values.c), NEVER).pipe(take(1)), undefined],
      [merge(of(values.t), NEVER), 1000],
    ] as const) {
      const scheduler = new VirtualTimeScheduler();
      source.pipe(streamTimeout({ firstTokenMs: 5000, stalledMs: 1000, totalMs: 9000, scheduler })).subscribe({
        error: () => undefined,
      });
      scheduler.flush();
      expect(scheduler.frame).toBe(last ?? 0);
    }
  });

  it('unsubscribes from its source before it fails', () => {
    const scheduler = new VirtualTimeScheduler();
    const log: string[] = [];
    NEVER.pipe(tap({ unsubscribe: () => log.push('gone') }), streamTimeout({ totalMs: 10, scheduler })).subscribe({
      error: () => log.push('failed'),
    });
    scheduler.flush();
    expect(log).toEqual(['gone', 'failed']);
  });

  it(
    'does not break the chain when the result is unsubscribed from',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --t-u-e-|');
      const e1subs = '        ^----!   ';
      const unsub = '         -----!   ';
      const expected = '      --t-u-   ';

      const result = e1.pipe(
        switchMap((event) => of(event)),
        streamTimeout({ totalMs: 100 }),
        switchMap((event) => of(event)),
      );
      expectObservable(result, unsub).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it('stops a synchronous source in the middle', () => {
    const emitted: unknown[] = [];
    of(1, 2, 3)
      .pipe(
        tap((value) => emitted.push(value)),
        streamTimeout({ totalMs: 1000 }),
        take(2),
      )
      .subscribe();
    expect(emitted).toEqual([1, 2]);
  });

  it('passes on what is pushed while it passes something on', () => {
    const e1 = new Subject<number>();
    const seen: number[] = [];
    e1.pipe(streamTimeout({ stalledMs: 1000 }), take(2)).subscribe((value) => {
      seen.push(value);
      e1.next(value + 1);
    });
    e1.next(1);
    expect(seen).toEqual([1, 2]);
  });

  it(
    'gives each try its own clocks before a retry, and one set to all of them after it',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c------          ');
      const e1subs1 = '       ^----!            ';
      const e1subs2 = '       ----------^----!  ';
      const expected1 = '     ---------------(c#)';
      const e2 = cold('       ---------          ');
      const e2subs1 = '       ^----!            ';
      const e2subs2 = '       ----------^-!     ';
      const expected2 = '     ------------#     ';

      const once = retryBeforeFirstToken<object>({ count: 1, delay: 5, random: () => 0 });
      const clock = streamTimeout<object>({ firstTokenMs: 5 });
      const each = e1.pipe(clock, once);
      const all = e2.pipe(clock, once, streamTimeout({ totalMs: 12 }));
      expectObservable(each).toBe(expected1, undefined, timeout('firstToken'));
      expectObservable(all).toBe(expected2, undefined, timeout('total'));
      expectSubscriptions(e1.subscriptions).toBe([e1subs1, e1subs2]);
      expectSubscriptions(e2.subscriptions).toBe([e2subs1, e2subs2]);
    }),
  );

  it(
    'looks at whatever comes out of the operators before it',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --c-----');
      const e1subs = '        ^-------!';
      const expected = '      --x-----#';

      const result = e1.pipe(
        map(() => 'x'),
        streamTimeout({ firstTokenMs: 3, totalMs: 8 }),
      );
      expectObservable(result).toBe(expected, undefined, timeout('total', { tokenSeen: true }));
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );
});
