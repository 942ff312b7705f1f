import { from, lastValueFrom, toArray } from 'rxjs';
import { accumulateToolCalls } from '../../operators/accumulate-tool-calls.js';
import { toolCalls } from '../../operators/tool-calls.js';
import type { ToolCall } from '../../tool-call.js';

type Event = { readonly type: `response.${string}` } & Readonly<Record<string, unknown>>;

const added = (item: unknown, at: object = { output_index: 0 }): Event => ({
  type: 'response.output_item.added',
  item,
  ...at,
});
const done = (item: unknown, at: object = { output_index: 0 }): Event => ({
  type: 'response.output_item.done',
  item,
  ...at,
});
const delta = (text: unknown, at: object = { output_index: 0 }): Event => ({
  type: 'response.function_call_arguments.delta',
  delta: text,
  ...at,
});
const argumentsDone = (text: unknown, at: object = { output_index: 0 }): Event => ({
  type: 'response.function_call_arguments.done',
  arguments: text,
  ...at,
});
const completed = (...output: unknown[]): Event => ({
  type: 'response.completed',
  response: { status: 'completed', output },
});
const incomplete = (...output: unknown[]): Event => ({
  type: 'response.incomplete',
  response: { status: 'incomplete', output },
});
const item = (fields: object = {}) => ({ type: 'function_call', id: 'fc_1', call_id: 'a', name: 'tide', ...fields });

async function read(...events: Event[]): Promise<{ calls: ToolCall[]; shown: readonly ToolCall[] }> {
  const calls = await lastValueFrom(from(events).pipe(toolCalls(), toArray()));
  const shown = await lastValueFrom(from(events).pipe(accumulateToolCalls()), { defaultValue: [] });
  return { calls, shown };
}

const short = (calls: readonly ToolCall[]) => calls.map(({ id, name, arguments: text }) => `${id} ${name} ${text}`);

describe('responsesTools', () => {
  const whole = item({ arguments: '{"p":1}' });

  it.each<[fact: string, events: Event[], calls: string[]]>([
    [
      'output_index is missing',
      [added(item(), {}), delta('{"p"', { item_id: 'fc_1' }), done(item({ arguments: '{"p":1}' }), {})],
      ['a tide {"p":1}'],
    ],
    [
      'only item_id tells interleaved calls apart',
      [
        added(item(), {}),
        added(item({ id: 'fc_2', call_id: 'b', name: 'wind' }), {}),
        delta('{"p":', { item_id: 'fc_1' }),
        delta('{"p":', { item_id: 'fc_2' }),
        delta('1}', { item_id: 'fc_1' }),
        delta('2}', { item_id: 'fc_2' }),
        completed(),
      ],
      ['a tide {"p":1}', 'b wind {"p":2}'],
    ],
    [
      'pieces name no item',
      [added(item()), delta('{"p"', {}), argumentsDone('{"p":1}', {}), completed()],
      ['a tide {"p":1}'],
    ],
    ['the opening item holds arguments', [added(whole), completed()], ['a tide {"p":1}']],
    ['the opening item is null', [added(null), delta('{"p":1}'), done(whole)], ['a tide {"p":1}']],
    ['the arguments are an object', [done(item({ arguments: { p: 1 } }))], ['a tide {"p":1}']],
    [
      'deltas are empty or null',
      [added(item()), delta(''), delta(null), delta('{"p":1}'), done(item())],
      ['a tide {"p":1}'],
    ],
    ['the arguments are empty', [added(item()), argumentsDone(''), completed()], ['a tide ']],
    [
      'the item is announced again under new ids',
      [
        added(item()),
        added(item({ id: 'fc_9', call_id: 'z' })),
        delta('{"p":1}'),
        done(item({ id: 'fc_9', call_id: 'z' })),
      ],
      ['z tide {"p":1}'],
    ],
    [
      'all items have output_index 0',
      [
        added(item()),
        done(whole),
        added(item({ id: 'fc_2', call_id: 'b' })),
        done(item({ id: 'fc_2', call_id: 'b', arguments: '{}' })),
      ],
      ['a tide {"p":1}', 'b tide {}'],
    ],
    [
      'all items have output_index 0, and are only closed',
      [done(whole), done(item({ id: 'fc_2', call_id: 'b', arguments: '{}' })), completed()],
      ['a tide {"p":1}', 'b tide {}'],
    ],
    [
      'another kind of item takes the place of one that is over',
      [added(item()), done(whole), added({ type: 'message' }), delta('x'), completed()],
      ['a tide {"p":1}'],
    ],
    [
      'a tool of the service streams its arguments like a function',
      [
        added({ type: 'mcp_call', id: 'mcp_1', name: 'x' }),
        delta('{"q":1}'),
        argumentsDone('{"q":1}', { item_id: 'mcp_1' }),
        added(item(), { output_index: 1 }),
        done(whole, { output_index: 1 }),
        completed(),
      ],
      ['a tide {"p":1}'],
    ],
    [
      'the name comes with arguments.done',
      [delta('{"p":1}'), { ...argumentsDone('{"p":1}'), name: 'tide' }, completed(whole)],
      ['a tide {"p":1}'],
    ],
    [
      'the deltas differ from the whole',
      [added(item()), delta('{"q":'), argumentsDone('{"p":1}'), completed()],
      ['a tide {"p":1}'],
    ],
    [
      'the final response repeats the call',
      [added(item()), delta('{"p":1}'), done(whole), completed(whole)],
      ['a tide {"p":1}'],
    ],
    [
      'the final response leaves out other items',
      [
        added({ type: 'reasoning' }),
        added(item(), { output_index: 1 }),
        delta('{"p"', { output_index: 1 }),
        completed(whole),
      ],
      ['a tide {"p":1}'],
    ],
    [
      'the final response has another id for the same call',
      [added(item()), done(whole), completed(item({ id: 'x', call_id: 'y', arguments: '{"p":1}' }))],
      ['a tide {"p":1}'],
    ],
    [
      'the final response has one more call before the streamed one',
      [added(item()), done(whole), completed(item({ id: 'fc_2', call_id: 'b' }), whole)],
      ['a tide {"p":1}', 'b tide '],
    ],
    [
      'the final response holds the same call twice',
      [completed(whole, item({ id: 'fc_2', call_id: 'b', arguments: '{"p":1}' }))],
      ['a tide {"p":1}', 'b tide {"p":1}'],
    ],
    [
      'the final event is response.done',
      [added(item()), delta('{"p":1}'), { type: 'response.done', response: {} }],
      ['a tide {"p":1}'],
    ],
    [
      'there is no call_id',
      [added(item({ call_id: undefined })), argumentsDone('{}'), done(item({ call_id: null }))],
      ['fc_1 tide {}'],
    ],
    ['there are no ids at all', [done({ type: 'function_call', name: 'tide', arguments: '{}' })], ['call_0 tide {}']],
    ['the response was cut, but not the call', [added(item()), delta('{"p":1}'), incomplete()], ['a tide {"p":1}']],
    [
      'the response was cut after the call',
      [added(item()), incomplete(item({ arguments: '{"p":1}', status: 'completed' }))],
      ['a tide {"p":1}'],
    ],
    [
      'the final response is missing',
      [added(item()), delta('{"p":1}'), { type: 'response.completed' }],
      ['a tide {"p":1}'],
    ],
  ])('reads calls right where %s', async (_, events, expected) => {
    const { calls, shown } = await read(...events);
    expect(short(calls)).toEqual(expected);
    expect(short(shown)).toEqual(expected);
    expect(shown.every((call) => call.complete && call.valid)).toBe(true);
  });

  it('keeps a call that was cut, and does not complete it', async () => {
    const half = item({ arguments: '{"p":', status: 'incomplete' });
    for (const events of [
      [added(item()), delta('{"p":'), argumentsDone('{"p":'), incomplete()],
      [added(item()), delta('{"p":'), done(half), incomplete()],
      [added(item()), delta('{"p":'), done(half), completed(half)],
      [added(item()), delta('{"p":'), incomplete(half)],
      [added(item()), delta('{"p":')],
    ]) {
      const { calls, shown } = await read(...events);
      expect(calls).toEqual([]);
      expect(shown).toMatchObject([{ arguments: '{"p":', complete: false, valid: false }]);
    }
  });

  it('does not mix a call that was cut with the next one in its place', async () => {
    const next = item({ id: 'fc_2', call_id: 'b', arguments: '{}' });
    const { calls, shown } = await read(done(item({ arguments: '{', status: 'incomplete' })), added(next), completed());
    expect(short(calls)).toEqual(['b tide {}']);
    expect(short(shown)).toEqual(['a tide {', 'b tide {}']);
  });

  it('completes a call whose text is no JSON once it is sure that it was not cut', async () => {
    for (const events of [
      [added(item()), argumentsDone('{"p":'), completed()],
      [done(item({ arguments: '{"p":', status: 'completed' }))],
    ]) {
      const { calls, shown } = await read(...events);
      expect(calls).toEqual(shown);
      expect(calls).toMatchObject([{ arguments: '{"p":', complete: true, valid: false, input: undefined }]);
    }
  });

  it('corrects a call by its item, though toolCalls() has given it', async () => {
    const { calls, shown } = await read(added(item()), argumentsDone('{}'), done(whole), completed());
    expect(short(calls)).toEqual(['a tide {}']);
    expect(shown).toMatchObject([{ arguments: '{"p":1}', input: { p: 1 } }]);
  });

  it('ignores what comes after a call was complete', async () => {
    const { calls, shown } = await read(added(item()), done(whole), delta('x'), argumentsDone('{"p":1}'), completed());
    expect(short(calls)).toEqual(['a tide {"p":1}']);
    expect(short(shown)).toEqual(['a tide {"p":1}']);
  });

  it('reads no other choice than 0', async () => {
    const calls = from([done(whole)]).pipe(toolCalls({ choice: 1 }), toArray());
    expect(await lastValueFrom(calls)).toEqual([]);
  });
});
