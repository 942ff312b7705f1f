import { concat, mergeMap, of, Subject, take, tap } from 'rxjs';
import { toolCalls, type ToolCall } from 'rx-llm';
import { chat, letters, marbles, messages, responses } from 'rx-llm/testing';

/** A whole call of `tide`, whose text is JSON unless `fields` says otherwise. */
function tide(text: string, fields: Partial<ToolCall> = {}): ToolCall {
  const valid = fields.valid ?? true;
  const input: unknown = fields.input ?? (valid ? JSON.parse(text || '{}') : undefined);
  const call = { key: 'call_0', id: 'call_1', name: 'tide', arguments: text, input, complete: true, valid, choice: 0 };
  return { ...call, ...fields };
}

const OBAN = '{"p":"Oban"}';
const SKYE = '{"p":"Skye"}';

describe('toolCalls', () => {
  describe('on chat completions', () => {
    // t: the call begins; a, b: its arguments; s, d: another call and its arguments; x: text; e, l: the finish; u: usage
    const values = {
      t: chat.toolCall({ name: 'tide' }),
      a: chat.toolArguments('{"p":'),
      b: chat.toolArguments('"Oban"}'),
      s: chat.toolCall({ name: 'tide', index: 1 }),
      d: chat.toolArguments(SKYE, { index: 1 }),
      x: chat.text('Let me see'),
      e: chat.finish('tool_calls'),
      l: chat.finish('length'),
      u: chat.usage({ prompt_tokens: 1 }),
    };
    const skye = tide(SKYE, { key: 'call_1', id: 'call_2' });

    it(
      'emits a call when the answer is complete',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -x-t-a-b-e-u-|    ');
        const e1subs = '        ^------------!    ';
        const expected = '      -------------(1|) ';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { 1: tide(OBAN) });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'puts interleaved calls together, and emits them by index',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -s-t-a-d-b-e-|    ');
        const expected = '      -------------(12|)';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, {
          1: tide(OBAN, { key: 'call_1' }),
          2: tide(SKYE, { key: 'call_0', id: 'call_2' }),
        });
      }),
    );

    it(
      'emits on an error what the choice had finished before',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -t-a-b-e-#    ');
        const e1subs = '        ^--------!    ';
        const expected = '      ---------(1#) ';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { 1: tide(OBAN) });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'emits nothing on an error without a finish reason, not even a call whose text is whole',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -t-a-b-#');
        const e1subs = '        ^------!';
        const expected = '      -------#';

        expectObservable(e1.pipe(toolCalls())).toBe(expected);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'emits no call that the token limit cut',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -t-a-b-s-l-|    ');
        const expected = '      -----------(1|) ';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { 1: tide(OBAN) });
      }),
    );

    it(
      'emits a call that is whole though its text is no JSON, and says so',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -t-a-e-|    ');
        const expected = '      -------(1|) ';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { 1: tide('{"p":', { valid: false }) });
      }),
    );

    it(
      'gives a call without arguments an empty input',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -t-e-|    ');
        const expected = '      -----(1|) ';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { 1: tide('') });
      }),
    );

    it(
      'follows choice 0 of several that interleave, or the one that it is told to',
      marbles(values, ({ cold, expectObservable }) => {
        const other = { choice: 1 };
        const n2 = {
          ...values,
          o: chat.toolCall({ name: 'tide' }, other),
          p: chat.toolArguments(SKYE, other),
          q: chat.finish('tool_calls', other),
        };
        const e1 = cold('       -t-o-a-p-b-e-q-|    ', n2);
        const expected = '      ---------------(x|) ';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { x: tide(OBAN) });
        expectObservable(e1.pipe(toolCalls(other))).toBe(expected, { x: tide(SKYE, other) });
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

        expectObservable(e1.pipe(toolCalls())).toBe(expected1);
        expectObservable(e2.pipe(toolCalls())).toBe(expected2);
        expectObservable(e3.pipe(toolCalls())).toBe(expected3);
        expectObservable(e4.pipe(toolCalls())).toBe(expected4);
      }),
    );

    it(
      'unsubscribes from its source early',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -t-a-b-e-|');
        const e1subs = '        ^---!     ';
        const unsub = '         ----!     ';
        const expected = '      -----     ';

        expectObservable(e1.pipe(toolCalls()), unsub).toBe(expected);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'does not break the chain of unsubscription',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -t-a-b-e-|');
        const e1subs = '        ^---!     ';
        const unsub = '         ----!     ';
        const expected = '      -----     ';

        const result = e1.pipe(
          mergeMap((event) => of(event)),
          toolCalls(),
          mergeMap((call) => of(call)),
        );
        expectObservable(result, unsub).toBe(expected);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'stops at the call that its reader was waiting for',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -t-a-b-s-d-e-|    ');
        const e1subs = '        ^------------!    ';
        const expected = '      -------------(1|) ';

        expectObservable(e1.pipe(toolCalls(), take(1))).toBe(expected, { 1: tide(OBAN) });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it('starts each subscription afresh', () => {
      const calls: ToolCall[] = [];
      const e1 = of(...chat.turn('', { toolCalls: [{ name: 'tide', arguments: OBAN }] })).pipe(toolCalls());
      e1.subscribe((call) => calls.push(call));
      e1.subscribe((call) => calls.push(call));
      expect(calls).toEqual([tide(OBAN), tide(OBAN)]);
    });

    it(
      'emits calls of two tools in the order of their indexes',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -t-a-b-s-d-e-|    ');
        const expected = '      -------------(12|)';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { 1: tide(OBAN), 2: skye });
      }),
    );
  });

  describe('on messages', () => {
    // m: the message starts; t: the block opens; a, b: its arguments; o: it stops; n: the next one opens;
    // f, l: the stop reason; e: the end; p: a ping
    const values = {
      m: messages.start(),
      t: messages.toolCall({ name: 'tide' }),
      a: messages.toolArguments('{"p":'),
      b: messages.toolArguments('"Oban"}'),
      o: messages.blockStop(),
      n: messages.blockStart({ type: 'text', text: '' }, { index: 1 }),
      f: messages.finish('tool_use'),
      l: messages.finish('max_tokens'),
      e: messages.stop(),
      p: messages.ping(),
    };
    const oban = tide(OBAN, { id: 'toolu_1' });

    it(
      'emits a call when its block stops',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -m-t-a-p-b-o-f-e|');
        const e1subs = '        ^---------------!';
        const expected = '      -----------1----|';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { 1: oban });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'stops a source in the middle of its answer with take(1)',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -m-t-a-b-o-f-e|   ');
        const e1subs = '        ^--------!        ';
        const expected = '      ---------(1|)     ';

        expectObservable(e1.pipe(toolCalls(), take(1))).toBe(expected, { 1: oban });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it('stops a synchronous source with take(1)', () => {
      const read: string[] = [];
      const turn = messages.turn('', { toolCalls: [{ name: 'tide' }, { name: 'wind', arguments: OBAN }] });
      of(...turn)
        .pipe(
          tap(({ type }) => read.push(type)),
          toolCalls(),
          take(1),
        )
        .subscribe();
      expect(read).toEqual(['message_start', 'content_block_start', 'content_block_stop', 'content_block_start']);
    });

    it(
      'waits for the stop reason where the text of a block is no JSON',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -m-t-a-o-f-e|');
        const expected = '      ---------1--|';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { 1: tide('{"p":', { id: 'toolu_1', valid: false }) });
      }),
    );

    it(
      'emits no call that the token limit cut, before or in its arguments',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -m-t-a-o-l-e|');
        const e2 = cold('       -m-t---o-l-e|');
        const expected = '      ------------|';

        expectObservable(e1.pipe(toolCalls())).toBe(expected);
        expectObservable(e2.pipe(toolCalls())).toBe(expected);
      }),
    );

    it(
      'emits a call without arguments once it is sure that there are none',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -m-t-o---f-e|');
        const expected1 = '     ---------1--|';
        const e2 = cold('       -m-t-o-n-l-e|');
        const expected2 = '     -------1----|';

        const call = { 1: tide('', { id: 'toolu_1' }) };
        expectObservable(e1.pipe(toolCalls())).toBe(expected1, call);
        expectObservable(e2.pipe(toolCalls())).toBe(expected2, call);
      }),
    );

    it(
      'takes the input of the opening block, unless deltas follow',
      marbles(values, ({ cold, expectObservable }) => {
        const t = messages.toolCall({ name: 'tide', arguments: SKYE });
        const e1 = cold('       -m-t---o-f-|', { ...values, t });
        const e2 = cold('       -m-t-abo-f-|', { ...values, t });
        const expected = '      -------1---|';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { 1: tide(SKYE, { id: 'toolu_1' }) });
        expectObservable(e2.pipe(toolCalls())).toBe(expected, { 1: oban });
      }),
    );

    it(
      'takes calls that the message starts with as whole',
      marbles(values, ({ cold, expectObservable }) => {
        const started = messages.start({
          content: [{ type: 'tool_use', id: 'toolu_9', name: 'tide', input: { p: 'Oban' } }],
        });
        const e1 = cold('       -m-f-e|', { ...values, m: started });
        const expected = '      -1----|';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { 1: tide(OBAN, { id: 'toolu_9' }) });
      }),
    );

    it(
      'leaves out tools that the service runs itself',
      marbles(values, ({ cold, expectObservable }) => {
        const search = messages.blockStart({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} });
        const remote = messages.blockStart({ type: 'mcp_tool_use', id: 'm', name: 'x', server_name: 'y', input: {} });
        const e1 = cold('       -m-t-a-b-o-f-|', { ...values, t: search });
        const e2 = cold('       -m-t-a-b-o-f-|', { ...values, t: remote });
        const expected = '      -------------|';

        expectObservable(e1.pipe(toolCalls())).toBe(expected);
        expectObservable(e2.pipe(toolCalls())).toBe(expected);
      }),
    );

    it(
      'reads each of several answers in a row',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -mtabofe|        ');
        const e2 = cold('               -mtabofe|');
        const e1subs = '        ^-------!        ';
        const e2subs = '        --------^-------!';
        const expected = '      -----1-------2--|';

        expectObservable(concat(e1, e2).pipe(toolCalls())).toBe(expected, {
          1: oban,
          2: { ...oban, key: 'call_1' },
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
        expectSubscriptions(e2.subscriptions).toBe(e2subs);
      }),
    );
  });

  describe('on responses', () => {
    // c: the beginning; t: the item opens; a, b: its arguments; d: they are done; i: the item is done;
    // e, l, f: the final event
    const values = {
      c: responses.created(),
      t: responses.toolCall({ name: 'tide' }),
      a: responses.toolArguments('{"p":'),
      b: responses.toolArguments('"Oban"}'),
      d: responses.toolArgumentsDone(OBAN),
      i: responses.toolCallDone({ name: 'tide', arguments: OBAN }),
      e: responses.completed(),
      l: responses.incomplete('max_output_tokens'),
      f: responses.failed('broken'),
    };

    it(
      'emits a call at the first event that has its arguments whole, and once',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -c-t-a-b-d-i-e|');
        const e1subs = '        ^-------------!';
        const expected = '      ---------1----|';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { 1: tide(OBAN) });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'takes the arguments from wherever they are',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -c-t-d-e|');
        const e2 = cold('       -c-t-i-e|');
        const e3 = cold('       -c---i-e|');
        const expected1 = '     -----1--|';
        const e4 = cold('       -c-i-d-e|');
        const expected2 = '     ---1----|';
        const e5 = cold('       -ct-a-be|');
        const e6 = cold('       -c-a-b-i|');
        const expected3 = '     -------1|';

        const call = { 1: tide(OBAN) };
        expectObservable(e1.pipe(toolCalls())).toBe(expected1, call);
        expectObservable(e2.pipe(toolCalls())).toBe(expected1, call);
        expectObservable(e3.pipe(toolCalls())).toBe(expected1, call);
        expectObservable(e4.pipe(toolCalls())).toBe(expected2, call);
        expectObservable(e5.pipe(toolCalls())).toBe(expected3, call);
        expectObservable(e6.pipe(toolCalls())).toBe(expected3, call);
      }),
    );

    it(
      'takes calls that only the final response holds',
      marbles(values, ({ cold, expectObservable }) => {
        const item = { type: 'function_call', call_id: 'call_1', name: 'tide', arguments: OBAN } as const;
        const e1 = cold('       -c-e|', { ...values, e: responses.completed({ output: [item] }) });
        const expected = '      ---1|';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { 1: tide(OBAN) });
      }),
    );

    it(
      'waits for the name',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -c-a-b-d-i-e|');
        const expected = '      ---------1--|';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, { 1: tide(OBAN) });
      }),
    );

    it(
      'tells interleaved calls apart by their place in the output',
      marbles(values, ({ cold, expectObservable }) => {
        const at = { output_index: 1, item_id: 'changes' };
        const e1 = cold('       -t-s-a-u-v-b-d-e|', {
          ...values,
          s: responses.toolCall({ name: 'tide' }, { output_index: 1 }),
          u: responses.toolArguments(SKYE, at),
          v: responses.toolArgumentsDone(SKYE, { output_index: 1, item_id: 'again' }),
        });
        const expected = '      ---------2---1--|';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, {
          1: tide(OBAN),
          2: tide(SKYE, { key: 'call_1', id: 'call_2' }),
        });
      }),
    );

    it(
      'emits no call that was cut',
      marbles(values, ({ cold, expectObservable }) => {
        const half = { type: 'function_call', call_id: 'call_1', name: 'tide', arguments: '{"p":' } as const;
        const cut = { ...values, i: responses.itemDone({ ...half, status: 'incomplete' }) };
        const e1 = cold('       -c-t-a-i-l|', cut);
        const e2 = cold('       -c-t-a---l|');
        const e3 = cold('       -c-t-----l|');
        const e4 = cold('       -c-t-a-b-f|');
        const expected = '      ----------|';

        expectObservable(e1.pipe(toolCalls())).toBe(expected);
        expectObservable(e2.pipe(toolCalls())).toBe(expected);
        expectObservable(e3.pipe(toolCalls())).toBe(expected);
        expectObservable(e4.pipe(toolCalls())).toBe(expected);
      }),
    );

    it(
      'emits nothing on an error before the arguments are said to be whole',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -c-t-a-b-#');
        const e1subs = '        ^--------!';
        const expected = '      ---------#';

        expectObservable(e1.pipe(toolCalls())).toBe(expected);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'gives the text of a custom tool as it stands',
      marbles(({ cold, expectObservable }) => {
        const item = { type: 'custom_tool_call', call_id: 'call_1', name: 'tide' } as const;
        const place = { output_index: 0, item_id: 'ctc_1' };
        const values = {
          t: responses.itemAdded({ ...item, input: '' }),
          a: { type: 'response.custom_tool_call_input.delta', ...place, delta: 'SELECT' },
          d: { type: 'response.custom_tool_call_input.done', ...place, input: 'SELECT 1' },
          i: responses.itemDone({ ...item, input: 'SELECT 1' }),
          e: responses.completed(),
        } as const;
        const e1 = cold('       -t-a-d-i-e|', values);
        const expected = '      -----1----|';

        expectObservable(e1.pipe(toolCalls())).toBe(expected, {
          1: tide('SELECT 1', { input: 'SELECT 1' }),
        });
      }),
    );

    it(
      'leaves out tools that the service runs itself',
      marbles(values, ({ cold, expectObservable }) => {
        const item = { type: 'mcp_call', name: 'x', server_label: 'y', arguments: OBAN } as const;
        const e1 = cold('       -c-t-i-e|', {
          ...values,
          t: responses.itemAdded(item),
          i: responses.itemDone(item),
          e: responses.completed({ output: [item] }),
        });
        const expected = '      --------|';

        expectObservable(e1.pipe(toolCalls())).toBe(expected);
      }),
    );
  });

  it(
    'reads whole turns of every endpoint alike',
    marbles(({ cold, expectObservable }) => {
      const parts = { toolCalls: [{ id: 'one', name: 'tide', arguments: OBAN }] };
      const e1 = cold('       abcdef|    ', letters(chat.turn('', parts)));
      const expected1 = '     ------(1|) ';
      const e2 = cold('       abcdefg|   ', letters(messages.turn('', parts)));
      const expected2 = '     ----1--|   ';
      const e3 = cold('       abcdefgh|  ', letters(responses.turn('', parts)));
      const expected3 = '     -----1--|  ';

      const call = { 1: tide(OBAN, { id: 'one' }) };
      expectObservable(e1.pipe(toolCalls())).toBe(expected1, call);
      expectObservable(e2.pipe(toolCalls())).toBe(expected2, call);
      expectObservable(e3.pipe(toolCalls())).toBe(expected3, call);
    }),
  );

  it('may be fed from its own reader', () => {
    const source = new Subject<ReturnType<(typeof messages)['turn']>[number]>();
    const calls: ToolCall[] = [];
    const second = messages.turn('', { toolCalls: [{ name: 'tide', arguments: SKYE }] });
    source.pipe(toolCalls()).subscribe((call) => {
      calls.push(call);
      if (calls.length === 1) for (const event of second) source.next(event);
    });
    for (const event of messages.turn('', { toolCalls: [{ name: 'tide', arguments: OBAN }] })) source.next(event);
    expect(calls.map((call) => call.arguments)).toEqual([OBAN, SKYE]);
  });
});
