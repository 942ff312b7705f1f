import { mergeMap, of, Subject, take, tap } from 'rxjs';
import { accumulateToolCalls, type ToolCall } from 'rx-llm';
import { chat, marbles, messages, responses } from 'rx-llm/testing';

/** The call of `tide`, not complete yet. */
function open(text: string, fields: Partial<ToolCall> = {}): ToolCall {
  const call = { key: 'call_0', id: 'call_1', name: 'tide', arguments: text, input: undefined };
  return { ...call, complete: false, valid: false, choice: 0, ...fields };
}

/** The call of `tide`, complete. */
function whole(text: string, fields: Partial<ToolCall> = {}): ToolCall {
  return open(text, { input: JSON.parse(text) as unknown, complete: true, valid: true, ...fields });
}

const OBAN = '{"p":"Oban"}';

describe('accumulateToolCalls', () => {
  describe('on chat completions', () => {
    // t: the call begins; a, b: its arguments; s, d: another call, and its arguments; x: text; e, l: the finish
    const values = {
      t: chat.toolCall({ name: 'tide' }),
      a: chat.toolArguments('{"p":"Ob'),
      b: chat.toolArguments('an"}'),
      s: chat.toolCall({ name: 'wind', index: 1 }),
      d: chat.toolArguments('{}', { index: 1 }),
      x: chat.text('Let me see'),
      e: chat.finish('tool_calls'),
      l: chat.finish('length'),
    };

    it(
      'emits all calls after each change, and a last time when they are complete',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -x-t-a-b-e-|   ');
        const e1subs = '        ^----------!   ';
        const expected = '      ---1-2-3---(4|)';

        expectObservable(e1.pipe(accumulateToolCalls())).toBe(expected, {
          1: [open('')],
          2: [open('{"p":"Ob')],
          3: [open(OBAN)],
          4: [whole(OBAN)],
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'shows calls that come interleaved side by side',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -t-a-s-b-d-e-|   ');
        const expected = '      -1-2-3-4-5---(6|)';

        const wind = { key: 'call_1', id: 'call_2', name: 'wind' };
        expectObservable(e1.pipe(accumulateToolCalls())).toBe(expected, {
          1: [open('')],
          2: [open('{"p":"Ob')],
          3: [open('{"p":"Ob'), open('', wind)],
          4: [open(OBAN), open('', wind)],
          5: [open(OBAN), open('{}', wind)],
          6: [whole(OBAN), whole('{}', wind)],
        });
      }),
    );

    it(
      'emits once for an event that has pieces of several calls',
      marbles(({ cold, expectObservable }) => {
        const both = chat.delta({
          tool_calls: [
            { index: 0, id: 'call_1', function: { name: 'tide', arguments: '{' } },
            { index: 1, id: 'call_2', function: { name: 'tide', arguments: '[' } },
          ],
        });
        const e1 = cold('       -a-', { a: both });
        const expected = '      -x-';

        expectObservable(e1.pipe(accumulateToolCalls())).toBe(expected, {
          x: [open('{'), open('[', { key: 'call_1', id: 'call_2' })],
        });
      }),
    );

    it(
      'shows the input as it grows, if it is told to',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -t-a-b-e-|   ');
        const expected = '      -1-2-3---(4|)';

        expectObservable(e1.pipe(accumulateToolCalls({ partialInput: true }))).toBe(expected, {
          1: [open('')],
          2: [open('{"p":"Ob', { input: { p: 'Ob' } })],
          3: [open(OBAN, { input: { p: 'Oban' } })],
          4: [whole(OBAN)],
        });
      }),
    );

    it(
      'keeps the text of a call that was cut, and never completes it',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -t-a-l-|');
        const e2 = cold('       -t-a---#');
        const subs = '          ^------!';
        const expected1 = '     -1-2---|';
        const expected2 = '     -1-2---#';

        const cut = { 1: [open('')], 2: [open('{"p":"Ob')] };
        expectObservable(e1.pipe(accumulateToolCalls())).toBe(expected1, cut);
        expectObservable(e2.pipe(accumulateToolCalls())).toBe(expected2, cut);
        expectSubscriptions(e1.subscriptions).toBe(subs);
        expectSubscriptions(e2.subscriptions).toBe(subs);
      }),
    );

    it(
      'completes on an error what the choice had finished before',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -t-a-b-e-#   ');
        const e1subs = '        ^--------!   ';
        const expected = '      -1-2-3---(4#)';

        expectObservable(e1.pipe(accumulateToolCalls())).toBe(expected, {
          1: [open('')],
          2: [open('{"p":"Ob')],
          3: [open(OBAN)],
          4: [whole(OBAN)],
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'says of a whole call whose text is no JSON that it is not valid',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -t-a-e-|   ');
        const expected = '      -1-2---(3|)';

        expectObservable(e1.pipe(accumulateToolCalls())).toBe(expected, {
          1: [open('')],
          2: [open('{"p":"Ob')],
          3: [open('{"p":"Ob', { complete: true })],
        });
      }),
    );

    it(
      'follows choice 0 of several that interleave, or the one that it is told to',
      marbles(values, ({ cold, expectObservable }) => {
        const choice = 1;
        const n2 = {
          ...values,
          o: chat.toolCall({ name: 'wind' }, { choice }),
          p: chat.toolArguments('{}', { choice }),
          q: chat.finish('tool_calls', { choice }),
        };
        const e1 = cold('       -t-o-a-p-b-q-e-|   ', n2);
        const expected0 = '     -1---2---3-----(4|)';
        const expected1 = '     ---1---2-------(3|)';

        const wind = { name: 'wind', choice };
        expectObservable(e1.pipe(accumulateToolCalls())).toBe(expected0, {
          1: [open('')],
          2: [open('{"p":"Ob')],
          3: [open(OBAN)],
          4: [whole(OBAN)],
        });
        expectObservable(e1.pipe(accumulateToolCalls({ choice }))).toBe(expected1, {
          1: [open('', wind)],
          2: [open('{}', wind)],
          3: [whole('{}', wind)],
        });
      }),
    );

    it(
      'emits nothing where there are no calls',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -x-e-|');
        const expected1 = '     -----|';
        const e2 = cold('       |     ');
        const expected2 = '     |     ';
        const e3 = cold('       -----#');
        const expected3 = '     -----#';
        const e4 = cold('       ------');
        const expected4 = '     ------';

        expectObservable(e1.pipe(accumulateToolCalls())).toBe(expected1);
        expectObservable(e2.pipe(accumulateToolCalls())).toBe(expected2);
        expectObservable(e3.pipe(accumulateToolCalls())).toBe(expected3);
        expectObservable(e4.pipe(accumulateToolCalls())).toBe(expected4);
      }),
    );

    it(
      'emits nothing for an event that changes nothing',
      marbles(values, ({ cold, expectObservable }) => {
        const empty = { ...values, y: chat.toolArguments(''), z: chat.delta({ tool_calls: [] }) };
        const e1 = cold('       -t-y-z-x-', empty);
        const expected = '      -1-------';

        expectObservable(e1.pipe(accumulateToolCalls())).toBe(expected, { 1: [open('')] });
      }),
    );

    it(
      'unsubscribes from its source early',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -t-a-b-e-|');
        const e1subs = '        ^--!      ';
        const unsub = '         ---!      ';
        const expected = '      -1--      ';

        expectObservable(e1.pipe(accumulateToolCalls()), unsub).toBe(expected, { 1: [open('')] });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'does not break the chain of unsubscription',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -t-a-b-e-|');
        const e1subs = '        ^--!      ';
        const unsub = '         ---!      ';
        const expected = '      -1--      ';

        const result = e1.pipe(
          mergeMap((event) => of(event)),
          accumulateToolCalls(),
          mergeMap((calls) => of(calls)),
        );
        expectObservable(result, unsub).toBe(expected, { 1: [open('')] });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'stops its source with take',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -t-a-b-e-|   ');
        const e1subs = '        ^--!         ';
        const expected = '      -1-(2|)      ';

        expectObservable(e1.pipe(accumulateToolCalls(), take(2))).toBe(expected, {
          1: [open('')],
          2: [open('{"p":"Ob')],
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it('stops a synchronous source with take', () => {
      let read = 0;
      of(values.x, values.t, values.a, values.b, values.e)
        .pipe(
          tap(() => read++),
          accumulateToolCalls(),
          take(1),
        )
        .subscribe();
      expect(read).toBe(2);
    });

    it('keeps the objects of calls that did not change, and freezes them', () => {
      const snapshots: (readonly ToolCall[])[] = [];
      of(values.t, values.s, values.a)
        .pipe(accumulateToolCalls())
        .subscribe((calls) => snapshots.push(calls));
      const [first, second, third] = snapshots;
      expect(second![0]).toBe(first![0]);
      expect(third![0]).not.toBe(second![0]);
      expect(third![1]).toBe(second![1]);
      expect(snapshots.flat().every((call) => Object.isFrozen(call))).toBe(true);
    });

    it('keeps the parts of a partial input that did not change', () => {
      const inputs: { a: object; b: object }[] = [];
      const pieces = ['{"a":{"x":1},"b":[2', ',3', ']}'].map((text) => chat.toolArguments(text));
      of(values.t, ...pieces, values.e)
        .pipe(accumulateToolCalls({ partialInput: true }))
        .subscribe(([call]) => inputs.push(call?.input as { a: object; b: object }));
      const [, one, two, three, four] = inputs;
      expect(two!.a).toBe(one!.a);
      expect(two!.b).not.toBe(one!.b);
      expect(four).toBe(three);
      expect(four).toEqual({ a: { x: 1 }, b: [2, 3] });
    });

    it('may be fed from its own reader', () => {
      const source = new Subject<ReturnType<typeof chat.text>>();
      const texts: string[] = [];
      source.pipe(accumulateToolCalls()).subscribe(([call]) => {
        texts.push(call!.arguments);
        if (texts.length === 1) source.next(values.a);
        if (texts.length === 2) source.next(values.b);
      });
      source.next(values.t);
      expect(texts).toEqual(['', '{"p":"Ob', OBAN]);
    });
  });

  it(
    'completes a call of a message when its block stops',
    marbles(({ cold, expectObservable }) => {
      const id = 'toolu_1';
      const e1 = cold('       -m-t-a-y-b-o-f-e|', {
        m: messages.start(),
        t: messages.toolCall({ name: 'tide' }),
        a: messages.toolArguments('{"p":"Ob'),
        y: messages.toolArguments(''),
        b: messages.toolArguments('an"}'),
        o: messages.blockStop(),
        f: messages.finish('tool_use'),
        e: messages.stop(),
      });
      const expected = '      ---1-2---3-4----|';

      expectObservable(e1.pipe(accumulateToolCalls())).toBe(expected, {
        1: [open('', { id })],
        2: [open('{"p":"Ob', { id })],
        3: [open(OBAN, { id })],
        4: [whole(OBAN, { id })],
      });
    }),
  );

  it(
    'completes a call of a response at the first event that has it whole, and takes the id of its item',
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('       -c-t-a-d-i-e|', {
        c: responses.created(),
        t: responses.toolCall({ name: 'tide', id: 'early' }),
        a: responses.toolArguments('{"p":"Ob'),
        d: responses.toolArgumentsDone(OBAN),
        i: responses.toolCallDone({ name: 'tide', arguments: OBAN, id: 'late' }),
        e: responses.completed(),
      });
      const expected = '      ---1-2-3-4--|';

      expectObservable(e1.pipe(accumulateToolCalls())).toBe(expected, {
        1: [open('', { id: 'early' })],
        2: [open('{"p":"Ob', { id: 'early' })],
        3: [whole(OBAN, { id: 'early' })],
        4: [whole(OBAN, { id: 'late' })],
      });
    }),
  );
});
