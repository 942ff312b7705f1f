import { mergeMap, of, Subject, take, tap } from 'rxjs';
import { finalReceipt, StreamEventError, TruncatedStreamError, type Receipt } from 'rx-llm';
import { chat, images, marbles, messages, responses } from 'rx-llm/testing';

describe('finalReceipt', () => {
  const routing = { strategy: 'balanced', resolved_model: 'flash-2', provider: 'google' };
  // t: text; f: the finish chunk of a gateway, with its receipt
  const values = {
    t: { id: 'chatcmpl_1', choices: [{ index: 0, delta: { content: 'Hello' } }] },
    f: chat.finish('stop', {
      id: 'chatcmpl_1',
      model: 'flash',
      resolved_model: 'flash-2',
      provider: 'google',
      request_id: 'req_1',
      cost_usd: 0.25,
      usage: { prompt_tokens: 9, completion_tokens: 2 },
      routing,
    }),
  };
  const receipt: Receipt = {
    id: 'chatcmpl_1',
    requestId: 'req_1',
    model: 'flash',
    resolvedModel: 'flash-2',
    provider: 'google',
    costUsd: 0.25,
    routing,
    finish: { reason: 'stop', raw: 'stop' },
  };

  it(
    'emits the receipt when the source completes',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -t-f-|   ');
      const e1subs = '        ^----!   ';
      const expected = '      -----(x|)';

      expectObservable(e1.pipe(finalReceipt())).toBe(expected, { x: receipt });
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'holds no more than the body says',
    marbles(values, ({ cold, expectObservable }) => {
      const e1 = cold('       -t-|   ');
      const expected = '      ---(x|)';

      expectObservable(e1.pipe(finalReceipt())).toBe(expected, { x: { id: 'chatcmpl_1' } });
    }),
  );

  it(
    'is empty when the body says nothing',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -a-|', { a: { choices: [{ index: 0, delta: { content: 'Hello' } }] } });
      const e2 = cold('       ---|');
      const subs = '          ^--!';
      const expected = '      ---|';

      expectObservable(e1.pipe(finalReceipt())).toBe(expected);
      expectObservable(e2.pipe(finalReceipt())).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(subs);
      expectSubscriptions(e2.subscriptions).toBe(subs);
    }),
  );

  it(
    'passes an error on alone',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const error = new TruncatedStreamError('cut');
      const e1 = cold('       -t-#', undefined, error);
      const e1subs = '        ^--!';
      const expected = '      ---#';

      expectObservable(e1.pipe(finalReceipt())).toBe(expected, {}, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    "emits what is known before an error with onError: 'emit', that of the error's own frame too",
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const event = { error: { code: 502 }, request_id: 'req_1', choices: [{ index: 0, finish_reason: 'error' }] };
      const error = new StreamEventError('gone', { event });
      const e1 = cold('       -t-#   ', undefined, error);
      const e1subs = '        ^--!   ';
      const expected = '      ---(x#)';

      const x: Receipt = { id: 'chatcmpl_1', requestId: 'req_1', finish: { reason: 'error', raw: 'error' } };
      expectObservable(e1.pipe(finalReceipt({ onError: 'emit' }))).toBe(expected, { x }, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'emits nothing when it is unsubscribed from, and unsubscribes from the source, through a chain as well',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -t-f-|');
      const e1subs = '        ^---! ';
      const unsub = '         ----! ';
      const expected = '      ----- ';

      const result = e1.pipe(
        mergeMap((event) => of(event)),
        finalReceipt(),
        mergeMap((value) => of(value)),
      );
      expectObservable(result, unsub).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it('emits for a synchronous source, which take(1) then ends', () => {
    const seen: (Receipt | string)[] = [];
    of(values.t, values.f)
      .pipe(finalReceipt(), take(1))
      .subscribe({ next: (value) => seen.push(value), complete: () => seen.push('complete') });

    expect(seen).toEqual([receipt, 'complete']);
  });

  it('reads an event that comes while another is being delivered', () => {
    const source = new Subject<object>();
    const seen: Receipt[] = [];
    source
      .pipe(tap({ next: (event) => event === values.t && source.next(values.f) }), finalReceipt())
      .subscribe((last) => seen.push(last));
    source.next(values.t);
    source.complete();

    expect(seen).toEqual([receipt]);
  });

  it('may be subscribed to again from within', () => {
    const source = new Subject<(typeof values)['t']>();
    const seen: Receipt[] = [];
    source.pipe(finalReceipt()).subscribe((first) => {
      seen.push(first);
      of(values.f)
        .pipe(finalReceipt())
        .subscribe((second) => seen.push(second));
    });
    source.next(values.t);
    source.complete();

    expect(seen).toEqual([{ id: 'chatcmpl_1' }, receipt]);
  });

  describe('on chat', () => {
    it(
      'keeps what empty fields of other chunks would erase',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-c-|   ', {
          a: { id: '', model: '', choices: [] },
          b: { id: 'x', model: 'm', provider: 'acme', choices: [] },
          c: { id: '', model: '', provider: null, choices: [] },
        });
        const expected = '    -------(x|)';

        expectObservable(e1.pipe(finalReceipt())).toBe(expected, { x: { id: 'x', model: 'm', provider: 'acme' } });
      }),
    );

    it(
      'takes the cost from the usage, the request id from Groq, the model and provider from the routing',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-|   ', {
          a: { x_groq: { id: 'req_g' }, choices: [], routing },
          b: { usage: { prompt_tokens: 1, completion_tokens: 1, cost: '0.5' }, choices: [] },
        });
        const expected = '    -----(x|)';

        expectObservable(e1.pipe(finalReceipt())).toBe(expected, {
          x: { requestId: 'req_g', resolvedModel: 'flash-2', provider: 'google', routing, costUsd: 0.5 },
        });
      }),
    );

    it(
      'tells why choice 0 of several ended',
      marbles(({ cold, expectObservable }) => {
        const finish = (reason: string, index: number) => ({ choices: [{ index, delta: {}, finish_reason: reason }] });
        const e1 = cold('     -b-a-b-|   ', { a: finish('stop', 0), b: finish('length', 1) });
        const expected = '    -------(x|)';

        expectObservable(e1.pipe(finalReceipt())).toBe(expected, { x: { finish: { reason: 'stop', raw: 'stop' } } });
      }),
    );
  });

  it(
    'reads the response object of Responses',
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('       -a-b-|   ', {
        a: responses.created({ id: 'resp_1', model: 'm' }),
        b: responses.completed({
          id: 'resp_1',
          model: 'm',
          provider: 'acme',
          request_id: 'req_1',
          cost_usd: 0,
          routing,
        }),
      });
      const expected = '      -----(x|)';

      const x: Receipt = {
        id: 'resp_1',
        requestId: 'req_1',
        model: 'm',
        resolvedModel: 'flash-2',
        provider: 'acme',
        costUsd: 0,
        routing,
        finish: { reason: 'stop', raw: 'completed' },
      };
      expectObservable(e1.pipe(finalReceipt())).toBe(expected, { x });
    }),
  );

  it(
    'reads the message of Messages, the model that took over, and the request id of an error',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const event = { type: 'error', error: { type: 'overloaded_error' }, request_id: 'req_1' };
      const error = new StreamEventError('busy', { event });
      const events = {
        a: messages.start({ id: 'msg_1', model: 'm' }),
        b: messages.blockStart({ type: 'fallback', from: { model: 'm' }, to: { model: 'm-2' }, trigger: null }),
      };
      const e1 = cold('       -a-b-#   ', events, error);
      const e1subs = '        ^----!   ';
      const expected = '      -----(x#)';

      const x: Receipt = { id: 'msg_1', requestId: 'req_1', model: 'm', resolvedModel: 'm-2' };
      expectObservable(e1.pipe(finalReceipt({ onError: 'emit' }))).toBe(expected, { x }, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'reads what an image cost',
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('       -a-|   ', { a: images.completed('AAAA', { usage: { total_tokens: 9, cost: 0.04 } }) });
      const expected = '      ---(x|)';

      expectObservable(e1.pipe(finalReceipt())).toBe(expected, { x: { costUsd: 0.04 } });
    }),
  );
});
