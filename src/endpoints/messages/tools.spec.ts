import { from, lastValueFrom, toArray } from 'rxjs';
import { accumulateToolCalls } from '../../operators/accumulate-tool-calls.js';
import { toolCalls } from '../../operators/tool-calls.js';
import type { ToolCall } from '../../tool-call.js';

type Event = { readonly type: `message_${string}` | `content_block_${string}` } & Readonly<Record<string, unknown>>;

const start = (index: unknown, block: object = {}): Event => ({
  type: 'content_block_start',
  index,
  content_block: { type: 'tool_use', id: 'a', name: 'tide', input: {}, ...block },
});
const delta = (index: unknown, partial_json: unknown): Event => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'input_json_delta', partial_json },
});
const stop = (index: unknown): Event => ({ type: 'content_block_stop', index });
const finish = (stop_reason: unknown): Event => ({ type: 'message_delta', delta: { stop_reason } });
const end: Event = { type: 'message_stop' };

async function read(...events: Event[]): Promise<{ calls: ToolCall[]; shown: readonly ToolCall[] }> {
  const calls = await lastValueFrom(from(events).pipe(toolCalls(), toArray()));
  const shown = await lastValueFrom(from(events).pipe(accumulateToolCalls()), { defaultValue: [] });
  return { calls, shown };
}

const short = (calls: readonly ToolCall[]) => calls.map(({ id, name, arguments: text }) => `${id} ${name} ${text}`);

describe('messagesTools', () => {
  it.each<[fact: string, events: Event[], calls: string[]]>([
    [
      'blocks are interleaved',
      [
        start(1),
        start(2, { id: 'b', name: 'wind' }),
        delta(1, '{"p":'),
        delta(2, '{"p":'),
        delta(1, '1}'),
        delta(2, '2}'),
        stop(2),
        stop(1),
        finish('tool_use'),
      ],
      ['b wind {"p":2}', 'a tide {"p":1}'],
    ],
    [
      'the index is missing',
      [start(undefined), delta(undefined, '{"p":1}'), stop(undefined), finish('tool_use')],
      ['a tide {"p":1}'],
    ],
    ['the first delta is empty', [start(0), delta(0, ''), delta(0, '{"p":1}'), stop(0)], ['a tide {"p":1}']],
    ['the only delta is empty', [start(0), delta(0, ''), stop(0), finish('tool_use')], ['a tide ']],
    ['the opening block holds the input', [start(0, { input: { p: 1 } }), stop(0)], ['a tide {"p":1}']],
    ['the opening block holds the input as text', [start(0, { input: '{"p":1}' }), stop(0)], ['a tide {"p":1}']],
    [
      'deltas follow an input in the opening block',
      [start(0, { input: { q: 2 } }), delta(0, '{"p":1}'), stop(0)],
      ['a tide {"p":1}'],
    ],
    ['the block does not stop', [start(0), delta(0, '{"p":1}'), finish('tool_use'), end], ['a tide {"p":1}']],
    ['the block does not stop, and there is no stop reason', [start(0), delta(0, '{"p":1}'), end], ['a tide {"p":1}']],
    ['there is no id', [start(0, { id: null }), stop(0), finish('tool_use')], ['call_0 tide ']],
    ['an early message_delta has no stop reason', [start(0), stop(0), finish(null), finish('tool_use')], ['a tide ']],
    [
      'deltas come after the block has stopped',
      [start(0), delta(0, '{"p":1}'), stop(0), delta(0, 'x'), end],
      ['a tide {"p":1}'],
    ],
    ['the block that a delta is for is unknown', [delta(7, '{}'), stop(7), finish('end_turn')], []],
    ['a block has no name', [start(0, { name: '' }), delta(0, '{}'), stop(0), finish('tool_use')], []],
    [
      'the token limit came after the call',
      [start(0), delta(0, '{"p":1}'), finish('max_tokens'), end],
      ['a tide {"p":1}'],
    ],
    [
      'the next block has the same index, and the one before did not stop',
      [start(0), start(0, { type: 'server_tool_use' }), delta(0, 'x'), finish('tool_use')],
      ['a tide '],
    ],
    [
      'the next block has the same index',
      [start(0), stop(0), start(0, { type: 'text' }), delta(0, 'x'), finish('tool_use')],
      ['a tide '],
    ],
  ])('reads calls right where %s', async (_, events, expected) => {
    const { calls, shown } = await read(...events);
    expect(short(calls)).toEqual(expected);
    expect(short(shown.filter((call) => call.complete)).sort()).toEqual([...expected].sort());
    expect(calls.every((call) => call.valid)).toBe(true);
  });

  it.each(['max_tokens', 'model_context_window_exceeded', 'refusal', 'length'])(
    'completes no call that %s cut',
    async (reason) => {
      for (const piece of ['{"p":', '']) {
        for (const events of [
          [start(0), delta(0, piece), stop(0)],
          [start(0), delta(0, piece)],
        ]) {
          const { calls, shown } = await read(...events, finish(reason), end);
          expect(calls).toEqual([]);
          expect(shown).toMatchObject([{ arguments: piece, complete: false, valid: false, input: undefined }]);
        }
      }
    },
  );

  it('completes a call whose text is no JSON after the stop reason', async () => {
    const { calls, shown } = await read(start(0), delta(0, '{"p":'), stop(0), finish('tool_use'), end);
    expect(calls).toMatchObject([{ arguments: '{"p":', complete: true, valid: false, input: undefined }]);
    expect(shown).toEqual(calls);
  });

  it('completes nothing where no stop reason came', async () => {
    const { calls, shown } = await read(start(0), delta(0, '{"p":'), stop(0));
    expect(calls).toEqual([]);
    expect(shown).toMatchObject([{ complete: false, valid: false }]);
  });

  it('reads no other choice than 0', async () => {
    const calls = from([start(0), delta(0, '{}'), stop(0)]).pipe(toolCalls({ choice: 1 }), toArray());
    expect(await lastValueFrom(calls)).toEqual([]);
  });
});
