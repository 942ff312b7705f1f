import { mergeMap, of, Subject, take, tap } from 'rxjs';
import { finishReason, StreamEventError, TruncatedStreamError, type FinishReason } from 'rx-llm';
import { chat, marbles, messages, responses } from 'rx-llm/testing';

describe('finishReason', () => {
  // t: text; c: a tool call; f: the finish reason; u: usage
  const values = {
    t: chat.text('Hello'),
    c: chat.toolCall({ name: 'clock', arguments: {} }),
    f: chat.finish('stop'),
    l: chat.finish('length'),
    u: chat.usage({ prompt_tokens: 1, completion_tokens: 2 }),
  };
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
    marbles(({ cold, expectObservable }) => {
      const choice = (finish_reason: string | null) => ({ choices: [{ index: 0, delta: {}, finish_reason }] });
      const e1 = cold('       -a-b-c-|', { a: chat.text('Hello'), b: choice(null), c: choice('') });
      const expected = '      -------|';

      expectObservable(e1.pipe(finishReason())).toBe(expected);
      expectObservable(cold('--|', values).pipe(finishReason())).toBe('--|');
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
      const e2subs = '        ^--!';

      expectObservable(e1.pipe(finishReason())).toBe('---#', {}, error);
      expectObservable(e2.pipe(finishReason())).toBe('-x-#', stop, error);
      expectSubscriptions(e2.subscriptions).toBe(e2subs);
    }),
  );

  it(
    'reads the reason of a frame that was raised as an error',
    marbles(values, ({ cold, expectObservable }) => {
      const event = { error: { code: 502 }, choices: [{ index: 0, delta: {}, finish_reason: 'error' }] };
      const error = new StreamEventError('upstream is gone', { event });
      const e1 = cold('       -t-#   ', undefined, error);
      const expected = '      ---(x#)';

      expectObservable(e1.pipe(finishReason())).toBe(expected, { x: { reason: 'error', raw: 'error' } }, error);

      const atTop = new StreamEventError('upstream is gone', { event: { error: 'gone', finish_reason: 'error' } });
      const e2 = cold('       -t-#   ', undefined, atTop);
      expectObservable(e2.pipe(finishReason())).toBe(expected, { x: { reason: 'error', raw: 'error' } }, atTop);
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

      expectObservable(e1.pipe(finishReason())).toBe('             ---x-|', stop);
      expectObservable(e1.pipe(finishReason({ choice: 1 }))).toBe('-x---|', { x: { reason: 'length', raw: 'length' } });
    }),
  );

  it(
    'is tool_calls where calls were made, though the wire says no more than stop',
    marbles(values, ({ cold, expectObservable }) => {
      const called = { x: { reason: 'tool_calls', raw: 'stop' } };
      const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] });
      const calls = [
        { tool_calls: [{ id: 'call_1' }] },
        { tool_calls: [{ function: { name: 'clock' } }] },
        { tool_calls: [{ custom: { name: 'clock' } }] },
        { function_call: { name: 'clock' } },
      ];
      const source = { ...values, p: delta({ tool_calls: [{}, { function: {} }], function_call: null }) };
      const cut = { x: { reason: 'length', raw: 'length' } };

      for (const call of calls)
        expectObservable(cold('-c-f-|', { c: delta(call), f: values.f }).pipe(finishReason())).toBe('---x-|', called);
      expectObservable(cold('-c-f-|', source).pipe(finishReason())).toBe('---x-|', called);
      expectObservable(cold('-c-l-|', source).pipe(finishReason())).toBe('---x-|', cut);
      expectObservable(cold('-p-f-|', source).pipe(finishReason())).toBe('---x-|', stop);
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
      for (const [reason, all] of Object.entries(words))
        for (const raw of all)
          expectObservable(cold('-f-|', { f: chat.finish(raw) }).pipe(finishReason())).toBe('-x-|', {
            x: { reason, raw },
          });
    }),
  );

  it(
    'reads the status of a final response, or why it is incomplete',
    marbles(({ cold, expectObservable }) => {
      const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'clock', arguments: '{}' } as const;
      const source = {
        c: responses.completed(),
        l: responses.incomplete('max_output_tokens'),
        n: responses.incomplete('content_filter'),
        t: responses.toolCall({ name: 'clock' }),
        o: responses.completed({ output: [call] }),
        d: { type: 'response.done', response: { status: 'completed', output: [] } } as const,
        b: { type: 'response.done', response: {} } as const,
        k: { type: 'response.done', response: { status: 'cancelled' } } as const,
      };
      const expect = (marble: string, expected: string, x: FinishReason) => {
        expectObservable(cold(marble, source).pipe(finishReason())).toBe(expected, { x });
      };

      expect('-c-|', '  -x-|', { reason: 'stop', raw: 'completed' });
      expect('-d-|', '  -x-|', { reason: 'stop', raw: 'completed' });
      expect('-b-|', '  -x-|', { reason: 'stop', raw: 'completed' });
      expect('-k-|', '  -x-|', { reason: 'other', raw: 'cancelled' });
      expect('-l-|', '  -x-|', { reason: 'length', raw: 'max_output_tokens' });
      expect('-n-|', '  -x-|', { reason: 'content_filter', raw: 'content_filter' });
      expect('-t-c-|', '---x-|', { reason: 'tool_calls', raw: 'completed' });
      expect('-o-|', '  -x-|', { reason: 'tool_calls', raw: 'completed' });
    }),
  );

  it(
    'tells of response.failed before the error',
    marbles(({ cold, expectObservable }) => {
      const event = responses.failed('broken');
      const error = new StreamEventError('broken', { event });
      const e1 = cold('       -a-(b#)', { a: responses.created(), b: event }, error);
      const expected = '      ---(x#)';

      expectObservable(e1.pipe(finishReason())).toBe(expected, { x: { reason: 'error', raw: 'failed' } }, error);
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
      const expect = (marble: string, expected: string, x: FinishReason) => {
        expectObservable(cold(marble, source).pipe(finishReason())).toBe(expected, { x });
      };

      expect('-s-u-f-|', '-----x-|', { reason: 'stop', raw: 'end_turn' });
      expect('-s-t-f-|', '-----x-|', { reason: 'tool_calls', raw: 'end_turn' });
      expect('-m-f-|', '  ---x-|', { reason: 'tool_calls', raw: 'end_turn' });
      expect('-s-p-|', '  ---x-|', { reason: 'pause', raw: 'pause_turn' });
      expect('-d-f-|', '  -x---|', { reason: 'content_filter', raw: 'refusal' });
    }),
  );
});
