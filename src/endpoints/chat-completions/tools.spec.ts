import { from, lastValueFrom, toArray } from 'rxjs';
import { accumulateToolCalls } from '../../operators/accumulate-tool-calls.js';
import { toolCalls } from '../../operators/tool-calls.js';
import type { ToolCall } from '../../tool-call.js';

/** An entry of `tool_calls`, as loose as the wire. */
type Entry = Readonly<Record<string, unknown>>;

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-7',
  choices: [{ index: 0, delta, finish_reason }],
});
const fn = (fields: object, call: Entry = {}): Entry => ({ ...call, function: fields });

/** The calls that come out of chunks with one list of entries each. */
async function read(
  chunks: readonly (readonly unknown[])[],
  finish: string | null = 'tool_calls',
): Promise<ToolCall[]> {
  const events = [...chunks.map((tool_calls) => chunk({ tool_calls })), chunk({}, finish)];
  const calls = await lastValueFrom(from(events).pipe(toolCalls(), toArray()));
  const shown = await lastValueFrom(from(events).pipe(accumulateToolCalls()), { defaultValue: [] });
  expect(shown.filter((call) => call.complete)).toEqual(calls);
  return calls;
}

const short = (calls: readonly ToolCall[]) => calls.map(({ id, name, arguments: text }) => `${id} ${name} ${text}`);
const each = (...entries: Entry[]) => entries.map((entry) => [entry]);

describe('chatTools', () => {
  const A = { name: 'tide', arguments: '{"p":1}' };
  const B = { name: 'wind', arguments: '{"p":2}' };
  const both = ['a tide {"p":1}', 'b wind {"p":2}'];

  it('reads a message in the place of deltas, and not beside them', async () => {
    const message = { tool_calls: [fn(A, { id: 'a' }), fn(B, { id: 'b' })] };
    const finish = { index: 0, finish_reason: 'tool_calls', message };
    const read = (...events: object[]) =>
      lastValueFrom(from(events as { choices: object[] }[]).pipe(toolCalls(), toArray()));

    expect(short(await read({ choices: [finish] }))).toEqual(both);
    expect(short(await read(chunk(message), { choices: [{ ...finish, delta: {} }] }))).toEqual(both);
  });

  it.each<[fact: string, chunks: unknown[][], calls: string[]]>([
    ['the index is missing', each(fn(A, { id: 'a' }), fn(B, { id: 'b' })), both],
    [
      'the index is missing, and the arguments come in pieces',
      each(
        fn({ name: 'tide' }, { id: 'a' }),
        fn({ arguments: '{"p"' }),
        fn({ arguments: ':1}' }),
        fn({ name: 'wind' }, { id: 'b' }),
        fn({ arguments: '{"p":2}' }),
      ),
      both,
    ],
    [
      'the index is missing, and each piece has a new id',
      each(
        fn({ name: 'tide', arguments: '{"p"' }, { id: 'a' }),
        fn({ arguments: ':' }, { id: 'x' }),
        fn({ arguments: '1}' }, { id: 'y' }),
        fn(B, { id: 'b' }),
      ),
      both,
    ],
    [
      'the index is missing, and the name is repeated',
      each(
        fn({ name: 'tide', arguments: '{"p"' }, { id: 'a' }),
        fn({ name: 'tide', arguments: ':1}' }),
        fn(B, { id: 'b' }),
      ),
      both,
    ],
    [
      'only the later pieces have an index',
      each(fn({ name: 'tide' }, { id: 'a' }), fn({ arguments: '{"p":1}' }, { index: 0 })),
      ['a tide {"p":1}'],
    ],
    ['all have index 0', each(fn(A, { index: 0, id: 'a' }), fn(B, { index: 0, id: 'b' })), both],
    [
      'all have index 0, and pieces a blank id',
      each(
        fn({ name: 'tide', arguments: '' }, { index: 0, id: 'a' }),
        fn({ arguments: '{"p":1}' }, { index: 0, id: '' }),
        fn({ name: 'wind', arguments: '' }, { index: 0, id: 'b' }),
        fn({ arguments: '{"p":2}' }, { index: 0, id: ' ' }),
      ),
      both,
    ],
    [
      'each piece has a new id on the same index',
      each(
        fn({ name: 'tide', arguments: '{"p":"}' }, { index: 0, id: 'a' }),
        fn({ arguments: ' \\" {' }, { index: 0, id: 'x' }),
        fn({ name: 'tide', arguments: '"}' }, { index: 0, id: 'y' }),
      ),
      ['a tide {"p":"} \\" {"}'],
    ],
    [
      'the id is repeated',
      each(
        fn({ name: 'tide', arguments: '{"p":' }, { index: 0, id: 'a' }),
        fn({ name: 'wind', arguments: '{"p":' }, { index: 1, id: 'b' }),
        fn({ arguments: '1}' }, { id: 'a' }),
        fn({ arguments: '2}' }, { id: 'b' }),
      ),
      both,
    ],
    [
      'id and index are used again for a call of another tool',
      each(fn(A, { index: 0, id: 'a' }), fn(B, { index: 0, id: 'a' })),
      ['a tide {"p":1}', 'call_1_chatcmpl7 wind {"p":2}'],
    ],
    [
      'id and index are used again for a call of the same tool',
      each(fn(A, { index: 0, id: 'a' }), fn({ ...A, arguments: ' [3]' }, { index: 0, id: 'a' })),
      ['a tide {"p":1}', 'call_1_chatcmpl7 tide  [3]'],
    ],
    [
      'pieces of a call whose id was used before find it',
      each(
        fn(A, { index: 0, id: 'a' }),
        fn({ name: 'wind', arguments: '{' }, { index: 1, id: 'a' }),
        fn({ arguments: '}' }, { index: 1, id: 'a' }),
      ),
      ['a tide {"p":1}', 'call_1_chatcmpl7 wind {}'],
    ],
    ['a whole call comes twice', each(fn(A, { index: 0, id: 'a' }), fn(A, { index: 0, id: 'a' })), ['a tide {"p":1}']],
    [
      'no id ever comes',
      each(fn({ name: 'tide' }, { index: 0 }), fn({ arguments: '{}' }, { index: 0 }), fn(B, { index: 1 })),
      ['call_0_chatcmpl7 tide {}', 'call_1_chatcmpl7 wind {"p":2}'],
    ],
    [
      'the id comes late',
      each(fn({ name: 'tide' }, { index: 0 }), fn({ arguments: '{"p":1}' }, { index: 0, id: 'a' })),
      ['a tide {"p":1}'],
    ],
    [
      'the arguments come before the name',
      each(
        fn({ arguments: '{"p"' }, { index: 0 }),
        fn({ arguments: ':1}' }, { index: 0, id: 'a' }),
        fn({ name: 'tide' }, { index: 0 }),
      ),
      ['a tide {"p":1}'],
    ],
    [
      'the name comes in pieces',
      each(
        fn({ name: 'ti', arguments: '' }, { index: 0, id: 'a' }),
        fn({ name: 'de', arguments: '{}' }, { index: 0 }),
        fn({ name: '' }, { index: 0 }),
      ),
      ['a tide {}'],
    ],
    [
      'the name grows',
      each(
        fn({ name: 'ti' }, { index: 0, id: 'a' }),
        fn({ name: 'tide' }, { index: 0, id: 'a' }),
        fn({ arguments: '{}' }, { index: 0 }),
      ),
      ['a tide {}'],
    ],
    [
      'the name is repeated',
      each(
        fn({ name: 'tide', arguments: null }, { index: 0, id: 'a' }),
        fn({ name: 'tide', arguments: '{"p":' }, { index: 0 }),
        fn({ name: 'tide', arguments: '1}' }, { index: 0 }),
      ),
      ['a tide {"p":1}'],
    ],
    [
      'the arguments are an object or an array',
      each(
        fn({ name: 'tide', arguments: { p: 1 } }, { index: 0, id: 'a' }),
        fn({ name: 'wind', arguments: [2] }, { index: 1, id: 'b' }),
      ),
      ['a tide {"p":1}', 'b wind [2]'],
    ],
    [
      'fields are null or of another type',
      [
        [null, 7, 'x', {}, { index: 0, id: null, type: null, function: null }],
        [fn({ name: 'tide', arguments: 5 }, { index: 0, id: 'a', custom: {} })],
        [fn({ name: null, arguments: '{"p":1}' }, { index: 0, id: null })],
      ],
      ['a tide {"p":1}'],
    ],
    [
      'pieces of several calls are in one chunk, and of an earlier one after a later',
      [
        [fn({ name: 'wind', arguments: '{"p"' }, { index: 5, id: 'b' }), fn({ name: 'tide' }, { index: 2, id: 'a' })],
        [fn({ arguments: '{"p":1}' }, { index: 2 }), fn({ arguments: ':2}' }, { index: 5 })],
      ],
      both,
    ],
    [
      'indexes are huge, sparse or negative',
      each(fn(B, { index: 2 ** 40, id: 'b' }), fn(A, { index: -3, id: 'a' })),
      both,
    ],
    [
      'not all calls have an index of their own, so that they stay in the order of their beginning',
      each(fn(A, { index: 9, id: 'a' }), fn(B, { index: 1, id: 'b' }), fn(A, { index: 9, id: 'c' })),
      [...both, 'c tide {"p":1}'],
    ],
    [
      'one call has no index, so that they stay in the order of their beginning',
      each(fn(A, { index: 9, id: 'a' }), fn(B, { id: 'b' }), fn(A, { index: 1, id: 'c' })),
      [...both, 'c tide {"p":1}'],
    ],
    [
      'there is only metadata',
      each({ index: 0, extra_content: { google: { thought_signature: 's' } } }, fn(A, { index: 0, id: 'a' })),
      ['a tide {"p":1}'],
    ],
  ])('reads calls right where %s', async (_, chunks, calls) => {
    expect(short(await read(chunks))).toEqual(calls);
  });

  it('never emits a call without a name', async () => {
    expect(await read([[fn({ arguments: '{}' }, { index: 0, id: 'a' })]])).toEqual([]);
  });

  it('does not take an id that it made up from another call', async () => {
    const calls = await read(each(fn(A, { index: 0 }), fn(B, { index: 1, id: 'call_0_chatcmpl7' })));
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  });

  it('reads custom tools, whose text is no JSON', async () => {
    const [call, ...others] = await read([
      [{ index: 0, id: 'a', type: 'custom', custom: { name: 'sql', input: 'SELECT' } }],
      [{ index: 0, custom: { input: ' 1' } }],
    ]);
    expect(call).toMatchObject({ name: 'sql', arguments: 'SELECT 1', input: 'SELECT 1', valid: true, complete: true });
    expect(others).toEqual([]);
  });

  it('reads the older function_call', async () => {
    const events = [
      chunk({ function_call: { name: 'tide', arguments: '' } }),
      chunk({ function_call: { arguments: '{"p":1}' } }),
      chunk({ function_call: null }, 'function_call'),
    ];
    const calls = await lastValueFrom(from(events).pipe(toolCalls(), toArray()));
    expect(short(calls)).toEqual(['call_0_chatcmpl7 tide {"p":1}']);
  });

  describe('where the answer was cut', () => {
    it.each([
      'length',
      'MAX_TOKENS',
      'content_filter',
      'model_length',
      'SAFETY',
      'insufficient_system_resource',
      'error',
    ])('emits what is whole after %s', async (finish) => {
      const half = fn({ name: 'wind', arguments: '{"p' }, { index: 1, id: 'b' });
      expect(short(await read(each(fn(A, { index: 0, id: 'a' }), half), finish))).toEqual(['a tide {"p":1}']);
      expect(short(await read(each(half, fn(A, { index: 2, id: 'a' })), finish))).toEqual(['a tide {"p":1}']);
    });

    it('takes a call without arguments for cut if it is the last', async () => {
      const now = { name: 'now' };
      const calls = await read(each(fn(now, { index: 0, id: 'a' }), fn(now, { index: 1, id: 'b' })), 'length');
      expect(short(calls)).toEqual(['a now ']);
      expect(calls[0]!.input).toEqual({});
    });

    it('takes a custom call for cut if it is the last', async () => {
      const custom = (id: string, index: number) => ({
        index,
        id,
        type: 'custom',
        custom: { name: 'sql', input: 'SEL' },
      });
      expect(short(await read(each(custom('a', 0), custom('b', 1)), 'length'))).toEqual(['a sql SEL']);
    });
  });

  it('emits calls without a finish reason', async () => {
    expect(short(await read(each(fn(A, { index: 0, id: 'a' })), null))).toEqual(['a tide {"p":1}']);
  });

  it('lets the first finish reason count', async () => {
    const events = [
      chunk({ tool_calls: [fn({ name: 'tide', arguments: '{' }, { id: 'a' })] }, 'length'),
      chunk({}, 'stop'),
    ];
    expect(await lastValueFrom(from(events).pipe(toolCalls(), toArray()))).toEqual([]);
  });

  it('counts brackets once, however often it must know whether a text is whole', async () => {
    const piece = (i: number) => fn({ arguments: '}'.repeat(20) }, { index: 0, id: `id ${i}` });
    const pieces = Array.from({ length: 20_000 }, (_, i) => [piece(i)]);
    const before = performance.now();
    const [call] = await read([
      [fn({ name: 'tide', arguments: '{'.repeat(400_001) }, { index: 0, id: 'a' })],
      ...pieces,
    ]);
    expect(call!.arguments).toHaveLength(800_001);
    // Parsed for each piece it would take minutes.
    expect(performance.now() - before).toBeLessThan(5000);
  });
});
