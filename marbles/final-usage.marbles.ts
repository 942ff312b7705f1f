import { firstValueFrom, mergeMap, of, Subject, take, tap, throwError } from 'rxjs';
import { finalUsage, StreamEventError, TruncatedStreamError, type Usage } from 'rx-llm';
import { chat, images, marbles, messages, responses } from 'rx-llm/testing';

describe('finalUsage', () => {
  // t: text; f: the finish reason; u, v: usage
  const values = {
    t: chat.text('Hello'),
    f: chat.finish('stop'),
    u: chat.usage({ prompt_tokens: 9, completion_tokens: 2 }),
    v: chat.usage({ prompt_tokens: 9, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 3 } }),
  };
  const raw = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
  const usage = { x: { inputTokens: 9, outputTokens: 2, totalTokens: 11, raw } };

  it(
    'emits the usage when the source completes',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -t-f-u-|   ');
      const e1subs = '        ^------!   ';
      const expected = '      -------(x|)';

      expectObservable(e1.pipe(finalUsage())).toBe(expected, usage);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'is empty when none was reported',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const none = { choices: [], usage: null };
      const empty = { choices: [], usage: {} };
      const e1 = cold('       -t-f-n-e-|', { ...values, n: none, e: empty });
      const e2 = cold('       ---------|');
      const subs = '          ^--------!';
      const expected = '      ---------|';

      expectObservable(e1.pipe(finalUsage())).toBe(expected);
      expectObservable(e2.pipe(finalUsage())).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(subs);
      expectSubscriptions(e2.subscriptions).toBe(subs);
    }),
  );

  it(
    'takes the last value of each field, and adds nothing up',
    marbles(values, ({ cold, expectObservable }) => {
      const e1 = cold('       -u-v-|   ');
      const expected = '      -----(x|)';

      const last = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 };
      expectObservable(e1.pipe(finalUsage())).toBe(expected, {
        x: {
          inputTokens: 9,
          outputTokens: 5,
          totalTokens: 14,
          reasoningTokens: 3,
          raw: { ...last, completion_tokens_details: { reasoning_tokens: 3 } },
        },
      });
    }),
  );

  it(
    'passes an error on alone',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const error = new TruncatedStreamError('cut');
      const e1 = cold('       -t-u-#', undefined, error);
      const e1subs = '        ^----!';
      const expected = '      -----#';

      expectObservable(e1.pipe(finalUsage())).toBe(expected, {}, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    "emits what is known before an error with onError: 'emit'",
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const error = new TruncatedStreamError('cut');
      const e1 = cold('       -t-u-#   ', undefined, error);
      const e2 = cold('       -t---#   ', undefined, error);
      const subs = '          ^----!   ';
      const expected1 = '     -----(x#)';
      const expected2 = '     -----#   ';

      expectObservable(e1.pipe(finalUsage({ onError: 'emit' }))).toBe(expected1, usage, error);
      expectObservable(e2.pipe(finalUsage({ onError: 'emit' }))).toBe(expected2, {}, error);
      expectSubscriptions(e1.subscriptions).toBe(subs);
      expectSubscriptions(e2.subscriptions).toBe(subs);
    }),
  );

  it(
    "finds the usage in the error, or in the frame that it was raised for, with onError: 'emit'",
    marbles(values, ({ cold, expectObservable }) => {
      const known = new TruncatedStreamError('cut', { usage: usage.x });
      const frame = new StreamEventError('over', { event: { error: { code: 'over' }, usage: raw } });

      // Of another copy of the package, which is known by its shape.
      const foreign = Object.assign(new Error('cut'), { kind: 'truncated', tokenSeen: true, usage: usage.x });

      for (const error of [known, frame, foreign]) {
        const e1 = cold('       -t-#   ', undefined, error);
        const expected = '      ---(x#)';

        expectObservable(e1.pipe(finalUsage({ onError: 'emit' }))).toBe(expected, usage, error);
      }
    }),
  );

  it(
    "passes on alone an error that knows of no usage, with onError: 'emit' too",
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const error = 'any reason';
      const e1 = cold('       -t-#', undefined, error);
      const e1subs = '        ^--!';
      const expected = '      ---#';

      expectObservable(e1.pipe(finalUsage({ onError: 'emit' }))).toBe(expected, {}, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'emits nothing when it is unsubscribed from, and unsubscribes from the source, through a chain as well',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -t-u-f-|');
      const e1subs = '        ^----!  ';
      const unsub = '         -----!  ';
      const expected = '      ------  ';

      const result = e1.pipe(
        mergeMap((event) => of(event)),
        finalUsage(),
        mergeMap((value) => of(value)),
      );
      expectObservable(result, unsub).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it('emits for a synchronous source, which take(1) then ends', () => {
    const seen: (Usage | string)[] = [];
    of(values.t, values.u)
      .pipe(finalUsage(), take(1))
      .subscribe({ next: (value) => seen.push(value), complete: () => seen.push('complete') });

    expect(seen).toEqual([usage.x, 'complete']);
  });

  it('leaves a failure to firstValueFrom, unless it is told to emit', async () => {
    const failing = () => throwError(() => new TruncatedStreamError('cut', { usage: usage.x }));

    await expect(firstValueFrom(failing().pipe(finalUsage()))).rejects.toThrow('cut');
    await expect(firstValueFrom(failing().pipe(finalUsage({ onError: 'emit' })))).resolves.toEqual(usage.x);
  });

  it('reads an event that comes while another is being delivered', () => {
    const source = new Subject<(typeof values)['u']>();
    const seen: Usage[] = [];
    source
      .pipe(tap({ next: (event) => event === values.u && source.next(values.v) }), finalUsage())
      .subscribe((last) => {
        seen.push(last);
      });
    source.next(values.u);
    source.complete();

    // The inner event was read first, so that the outer one is the last report.
    expect(seen).toMatchObject([{ outputTokens: 2, reasoningTokens: 3 }]);
  });

  it(
    'counts the cost that a gateway puts beside the usage',
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('       -f-|   ', { f: chat.finish('stop', { usage: raw, cost_usd: 0.25 }) });
      const expected = '      ---(x|)';

      expectObservable(e1.pipe(finalUsage())).toBe(expected, {
        x: { ...usage.x, costUsd: 0.25, raw: { ...raw, cost_usd: 0.25 } },
      });
    }),
  );

  it(
    'reads Responses, Messages and images',
    marbles(({ cold, expectObservable }) => {
      const tokens = {
        input_tokens: 9,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 2,
        total_tokens: 11,
      };
      const drawn = { prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } };
      const merged = { input_tokens: 5, cache_read_input_tokens: 4, output_tokens: 2 };
      const counts = { inputTokens: 9, outputTokens: 2, totalTokens: 11, cachedInputTokens: 4 };
      const events = {
        r: responses.completed({ usage: tokens }),
        s: messages.start({ usage: { ...merged, output_tokens: 1 } }),
        f: messages.finish('end_turn', { output_tokens: 2 }),
        i: images.completed('AAAA', { usage: drawn }),
      };
      const e1 = cold('       -r---|   ', events);
      const e2 = cold('       -s-f-|   ', events);
      const e3 = cold('       -i---|   ', events);
      const expected = '      -----(x|)';

      expectObservable(e1.pipe(finalUsage())).toBe(expected, { x: { ...counts, raw: tokens } });
      expectObservable(e2.pipe(finalUsage())).toBe(expected, { x: { ...counts, raw: merged } });
      expectObservable(e3.pipe(finalUsage())).toBe(expected, { x: { ...counts, raw: drawn } });
    }),
  );
});
