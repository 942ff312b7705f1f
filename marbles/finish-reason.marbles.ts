import { mergeMap, of, Subject, take, tap } from 'rxjs';
import { finishReason, StreamEventError, TruncatedStreamError, type FinishReason, type ResponsesLike } from 'rx-llm';
import { chat, marbles, messages, responses } from 'rx-llm/testing';

describe('finishReason', () => {
  // t: text; c: a tool call; f, l: the finish reason; u: usage
  const values = {
    t: chat.text('Hello'),
    c: chat.toolCall({ name: 'clock', arguments: {} }),
    f: chat.finish('stop'),
    l: chat.finish('length'),
    u: chat.usage({ prompt_tokens: 1, completion_tokens: 2 }),
  };
  const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] });
  const stop = { x: { reason: 'stop', raw: 'stop' } };

  it(
    'emits the reason as soon as it is known, and completes with the source',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -t-f-u-|');
      const e1subs = '        ^------!';
      const expected = '      ---x---|';

      expectObservable(e1.pipe(finishReason())).toBe(expected, stop);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'emits nothing where none is given: null and empty words are none',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const choice = (finish_reason: string | null) => ({ choices: [{ index: 0, delta: {}, finish_reason }] });
      const e1 = cold('       -t-a-b-|', { ...values, a: choice(null), b: choice('') });
      const e2 = cold('       -------|');
      const subs = '          ^------!';
      const expected = '      -------|';

      expectObservable(e1.pipe(finishReason())).toBe(expected);
      expectObservable(e2.pipe(finishReason())).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(subs);
      expectSubscriptions(e2.subscriptions).toBe(subs);
    }),
  );

  it(
    'lets the first reason stand',
    marbles(values, ({ cold, expectObservable }) => {
      const e1 = cold('       -t-f-l-|');
      const expected = '      ---x---|';

      expectObservable(e1.pipe(finishReason())).toBe(expected, stop);
    }),
  );

  it(
    'passes an error on, after the reason if it was known',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const error = new TruncatedStreamError('cut');
      const e1 = cold('       -t-#', undefined, error);
      const e2 = cold('       -f-#', undefined, error);
      const subs = '          ^--!';
      const expected1 = '     ---#';
      const expected2 = '     -x-#';

      expectObservable(e1.pipe(finishReason())).toBe(expected1, {}, error);
      expectObservable(e2.pipe(finishReason())).toBe(expected2, stop, error);
      expectSubscriptions(e1.subscriptions).toBe(subs);
      expectSubscriptions(e2.subscriptions).toBe(subs);
    }),
  );

  it(
    'reads the reason of a frame that was raised as an error',
    marbles(values, ({ cold, expectObservable }) => {
      const event = { error: { code: 502 }, choices: [{ index: 0, delta: {}, finish_reason: 'error' }] };
      const inChoice = new StreamEventError('upstream is gone', { event });
      const atTop = new StreamEventError('upstream is gone', { event: { error: 'gone', finish_reason: 'error' } });
      const e1 = cold('       -t-#   ', undefined, inChoice);
      const e2 = cold('       -t-#   ', undefined, atTop);
      const expected = '      ---(x#)';

      const failed = { x: { reason: 'error', raw: 'error' } };
      expectObservable(e1.pipe(finishReason())).toBe(expected, failed, inChoice);
      expectObservable(e2.pipe(finishReason())).toBe(expected, failed, atTop);
    }),
  );

  it(
    'unsubscribes from the source when it is unsubscribed from, through a chain as well',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -t-f-u-|');
      const e1subs = '        ^---!   ';
      const unsub = '         ----!   ';
      const expected = '      ---x-   ';

      const result = e1.pipe(
        mergeMap((event) => of(event)),
        finishReason(),
        mergeMap((reason) => of(reason)),
      );
      expectObservable(result, unsub).toBe(expected, stop);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it('stops a synchronous source at once', () => {
    const read: unknown[] = [];
    of(values.t, values.f, values.u)
      .pipe(
        tap((event) => read.push(event)),
        finishReason(),
        take(1),
      )
      .subscribe();

    expect(read).toEqual([values.t, values.f]);
  });

  it('reads an event that comes while another is being delivered', () => {
    const source = new Subject<(typeof values)['f']>();
    const seen: FinishReason[] = [];
    source.pipe(finishReason()).subscribe((reason) => {
      seen.push(reason);
      source.next(values.l);
    });
    source.next(values.f);

    expect(seen).toEqual([{ reason: 'stop', raw: 'stop' }]);
  });

  it(
    'follows choice 0 of several, or the one that it is told to',
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('       -a-b-|', { a: chat.finish('length', { choice: 1 }), b: chat.finish('stop') });
      const expected0 = '     ---x-|';
      const expected1 = '     -x---|';

      expectObservable(e1.pipe(finishReason())).toBe(expected0, stop);
      expectObservable(e1.pipe(finishReason({ choice: 1 }))).toBe(expected1, {
        x: { reason: 'length', raw: 'length' },
      });
    }),
  );

  it(
    'is tool_calls where calls were made, though the wire says no more than stop',
    marbles(values, ({ cold, expectObservable }) => {
      const calls = [
        values.c,
        delta({ tool_calls: [{ id: 'call_1' }] }),
        delta({ tool_calls: [{ function: { name: 'clock' } }] }),
        delta({ tool_calls: [{ custom: { name: 'clock' } }] }),
        delta({ function_call: { name: 'clock' } }),
      ];
      for (const c of calls) {
        const e1 = cold('     -c-f-|', { ...values, c });
        const expected = '    ---x-|';

        expectObservable(e1.pipe(finishReason())).toBe(expected, { x: { reason: 'tool_calls', raw: 'stop' } });
      }
    }),
  );

  it(
    'is what the wire says where a call was cut, or where there is none in what stands for one',
    marbles(values, ({ cold, expectObservable }) => {
      const p = delta({ tool_calls: [{}, { function: {} }], function_call: null });
      const e1 = cold('       -c-l-|');
      const e2 = cold('       -p-f-|', { ...values, p });
      const expected = '      ---x-|';

      expectObservable(e1.pipe(finishReason())).toBe(expected, { x: { reason: 'length', raw: 'length' } });
      expectObservable(e2.pipe(finishReason())).toBe(expected, stop);
    }),
  );

  it(
    'puts the words of all services into one vocabulary, and keeps the word',
    marbles(({ cold, expectObservable }) => {
      const words = {
        stop: ['stop', 'end_turn', 'stop_sequence', 'COMPLETE'],
        length: ['length', 'max_tokens', 'MAX_TOKENS', 'model_length'],
        tool_calls: ['tool_calls', 'function_call', 'TOOL_CALL'],
        content_filter: ['content_filter', 'SAFETY'],
        error: ['insufficient_system_resource'],
        other: ['shiny', 'constructor'],
      };
      const pairs = Object.entries(words).flatMap(([reason, all]) => all.map((raw) => ({ reason, raw })));
      for (const x of pairs) {
        const e1 = cold('     -f-|', { f: chat.finish(x.raw) });
        const expected = '    -x-|';

        expectObservable(e1.pipe(finishReason())).toBe(expected, { x });
      }
    }),
  );

  it(
    'reads the status of a final response, or why it is incomplete',
    marbles(({ cold, expectObservable }) => {
      const done = (response: { status?: 'completed' | 'cancelled' }) => ({ type: 'response.done', response }) as const;
      const finals: readonly [ResponsesLike, FinishReason][] = [
        [responses.completed(), { reason: 'stop', raw: 'completed' }],
        [responses.incomplete('max_output_tokens'), { reason: 'length', raw: 'max_output_tokens' }],
        [responses.incomplete('content_filter'), { reason: 'content_filter', raw: 'content_filter' }],
        [done({ status: 'completed' }), { reason: 'stop', raw: 'completed' }],
        [done({ status: 'cancelled' }), { reason: 'other', raw: 'cancelled' }],
        [done({}), { reason: 'stop', raw: 'completed' }],
      ];
      for (const [f, x] of finals) {
        const e1 = cold('     -f-|', { f });
        const expected = '    -x-|';

        expectObservable(e1.pipe(finishReason())).toBe(expected, { x });
      }
    }),
  );

  it(
    'is tool_calls where a response has made calls, or holds them at last',
    marbles(({ cold, expectObservable }) => {
      const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'clock', arguments: '{}' } as const;
      const source = {
        t: responses.toolCall({ name: 'clock' }),
        c: responses.completed(),
        o: responses.completed({ output: [call] }),
      };
      const e1 = cold('       -t-c-|', source);
      const e2 = cold('       ---o-|', source);
      const expected = '      ---x-|';

      const called = { x: { reason: 'tool_calls', raw: 'completed' } };
      expectObservable(e1.pipe(finishReason())).toBe(expected, called);
      expectObservable(e2.pipe(finishReason())).toBe(expected, called);
    }),
  );

  it(
    'tells of response.failed before the error',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const event = responses.failed('broken');
      const error = new StreamEventError('broken', { event });
      const e1 = cold('       -a-(b#)', { a: responses.created(), b: event }, error);
      const e1subs = '        ^--!   ';
      const expected = '      ---(x#)';

      expectObservable(e1.pipe(finishReason())).toBe(expected, { x: { reason: 'error', raw: 'failed' } }, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'reads the stop reason of a message, which its start may hold already',
    marbles(({ cold, expectObservable }) => {
      const source = {
        s: messages.start(),
        d: messages.start({ stop_reason: 'refusal' }),
        u: messages.usage({ output_tokens: 1 }),
        t: messages.toolCall({ name: 'clock' }),
        m: messages.start({ content: [{ type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} }] }),
        f: messages.finish('end_turn'),
        p: messages.finish('pause_turn'),
      };
      const e1 = cold('       -s-u-f-|', source);
      const e2 = cold('       -s-t-f-|', source);
      const e3 = cold('       -m---f-|', source);
      const e4 = cold('       -s---p-|', source);
      const atEnd = '         -----x-|';
      const e5 = cold('       -d---f-|', source);
      const atStart = '       -x-----|';

      expectObservable(e1.pipe(finishReason())).toBe(atEnd, { x: { reason: 'stop', raw: 'end_turn' } });
      expectObservable(e2.pipe(finishReason())).toBe(atEnd, { x: { reason: 'tool_calls', raw: 'end_turn' } });
      expectObservable(e3.pipe(finishReason())).toBe(atEnd, { x: { reason: 'tool_calls', raw: 'end_turn' } });
      expectObservable(e4.pipe(finishReason())).toBe(atEnd, { x: { reason: 'pause', raw: 'pause_turn' } });
      expectObservable(e5.pipe(finishReason())).toBe(atStart, { x: { reason: 'content_filter', raw: 'refusal' } });
    }),
  );
});
