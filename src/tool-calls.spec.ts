import fc from 'fast-check';
import { concat, from, of, throwError } from 'rxjs';
import type { ChatLike, MessagesLike, ResponsesLike } from './events.js';
import { accumulateToolCalls, type AccumulateToolCallsConfig } from './operators/accumulate-tool-calls.js';
import { toolCalls } from './operators/tool-calls.js';
import type { ToolCall } from './tool-call.js';

type Event = ChatLike | ResponsesLike | MessagesLike;

interface Planned {
  readonly name: string;
  readonly input: unknown;
  readonly pieces: readonly string[];
}

/** Calls with their arguments cut anywhere, and in which order the pieces come. */
const plan = fc
  .array(
    fc.record({
      name: fc.constantFrom('tide', 'wind', 'sql'),
      input: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
      cuts: fc.array(fc.nat(), { maxLength: 5 }),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((calls) =>
    calls.map(({ name, input, cuts }): Planned => {
      const text = JSON.stringify(input);
      const places = cuts.map((cut) => cut % text.length).sort((a, b) => a - b);
      return { name, input, pieces: [...places, text.length].map((place, i) => text.slice(places[i - 1] ?? 0, place)) };
    }),
  );
const order = fc.array(fc.nat(), { maxLength: 40 });

/** The pieces, interleaved: each number picks the call that goes on. */
function interleaved(calls: readonly Planned[], picks: readonly number[]): [call: number, piece: string][] {
  const left = calls.map(({ pieces }) => [...pieces]);
  const out: [number, string][] = [];
  for (let i = 0; left.some((pieces) => pieces.length > 0); i++) {
    const open = left.flatMap((pieces, call) => (pieces.length > 0 ? [call] : []));
    const call = open[(picks[i] ?? 0) % open.length]!;
    out.push([call, left[call]!.shift()!]);
  }
  return out;
}

const entries = (tool_calls: object[]): ChatLike => ({ choices: [{ index: 0, delta: { tool_calls } }] });
const finish: ChatLike = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };

type Dialect = (calls: readonly Planned[], pieces: readonly [number, string][]) => Event[];

const interleaving: Record<string, Dialect> = {
  'chat by the book': (calls, pieces) => [
    entries(calls.map(({ name }, index) => ({ index, id: `id ${index}`, function: { name, arguments: '' } }))),
    ...pieces.map(([index, text]) => entries([{ index, function: { arguments: text } }])),
    finish,
  ],
  'chat with ids and names repeated, and no index': (calls, pieces) => [
    ...pieces.map(([call, text]) =>
      entries([{ id: `id ${call}`, function: { name: calls[call]!.name, arguments: text } }]),
    ),
    finish,
  ],
  messages: (calls, pieces) => [
    { type: 'message_start' },
    ...calls.map(({ name }, index) => ({
      type: 'content_block_start' as const,
      index,
      content_block: { type: 'tool_use', id: `id ${index}`, name, input: {} },
    })),
    ...pieces.map(([index, partial_json]) => ({
      type: 'content_block_delta' as const,
      index,
      delta: { type: 'input_json_delta', partial_json },
    })),
    ...calls.map((_, index) => ({ type: 'content_block_stop' as const, index })),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } } as MessagesLike,
  ],
  responses: (calls, pieces) => [
    { type: 'response.created' },
    ...calls.map(({ name }, output_index) => ({
      type: 'response.output_item.added' as const,
      output_index,
      item: { type: 'function_call', call_id: `id ${output_index}`, name },
    })),
    ...pieces.map(([output_index, delta]) => ({
      type: 'response.function_call_arguments.delta' as const,
      output_index,
      delta,
    })),
    { type: 'response.completed', response: {} } as ResponsesLike,
  ],
};

/** Calls that come one after the other. */
const sequential: Record<string, Dialect> = {
  'chat with index 0 for all': (calls) => [
    ...calls.flatMap(({ name, pieces }, call) =>
      pieces.map((text, i) =>
        entries([
          i === 0
            ? { index: 0, id: `id ${call}`, function: { name, arguments: text } }
            : { index: 0, id: '', function: { name: null, arguments: text } },
        ]),
      ),
    ),
    finish,
  ],
  'chat with neither index nor repeated id': (calls) => [
    ...calls.flatMap(({ name, pieces }, call) => [
      entries([{ id: `id ${call}`, function: { name, arguments: null } }]),
      ...pieces.map((text) => entries([{ function: { arguments: text } }])),
    ]),
    finish,
  ],
  'chat with a new id for each piece': (calls) => [
    ...calls.flatMap(({ name, pieces }, call) =>
      pieces
        .filter((text) => text !== '')
        .map((text, i) =>
          entries([{ index: 0, id: `id ${call}${'-'.repeat(i)}`, function: { name: i ? '' : name, arguments: text } }]),
        ),
    ),
    finish,
  ],
};

function last(events: readonly Event[], config?: AccumulateToolCallsConfig): readonly ToolCall[] {
  let calls: readonly ToolCall[] = [];
  from(events).pipe(accumulateToolCalls(config)).subscribe((now) => (calls = now)); // prettier-ignore
  return calls;
}

function each(events: readonly Event[]): ToolCall[] {
  const calls: ToolCall[] = [];
  from(events).pipe(toolCalls()).subscribe((call) => calls.push(call)); // prettier-ignore
  return calls;
}

describe('tool calls', () => {
  const check = (dialect: Dialect, calls: readonly Planned[], picks: readonly number[]) => {
    const events = dialect(calls, interleaved(calls, picks));
    const expected = calls.map(({ name, input, pieces }, index) => ({
      key: `call_${index}`,
      id: `id ${index}`,
      name,
      arguments: pieces.join(''),
      input: JSON.parse(JSON.stringify(input)) as unknown,
      complete: true,
      valid: true,
      choice: 0,
    }));
    const byId = (a: ToolCall, b: ToolCall) => a.id.localeCompare(b.id);
    const keyless = ({ key: _, ...call }: ToolCall) => call;
    expect([...last(events)].sort(byId).map(keyless)).toEqual(expected.map(keyless));
    expect(last(events, { partialInput: true })).toEqual(last(events));
    expect(each(events).sort(byId).map(keyless)).toEqual(expected.map(keyless));
  };

  it.each(Object.entries(interleaving))(
    'are the same however their pieces are cut and interleaved: %s',
    (_, dialect) => {
      fc.assert(fc.property(plan, order, (calls, picks) => check(dialect, calls, picks)));
    },
  );

  it.each(Object.entries(sequential))('are the same however their pieces are cut: %s', (_, dialect) => {
    fc.assert(fc.property(plan, (calls) => check(dialect, calls, [])));
  });

  it('keep their object exactly as long as they do not change', () => {
    fc.assert(
      fc.property(plan, order, (calls, picks) => {
        const events = interleaving.messages!(calls, interleaved(calls, picks));
        const snapshots: (readonly ToolCall[])[] = [];
        const copies: unknown[] = [];
        from(events)
          .pipe(accumulateToolCalls({ partialInput: true }))
          .subscribe((now) => {
            const before = snapshots.at(-1) ?? [];
            for (const [i, call] of before.entries()) {
              const isEqual = JSON.stringify(call) === JSON.stringify(now[i]);
              expect(Object.is(call, now[i])).toBe(isEqual);
            }
            snapshots.push(now);
            copies.push(structuredClone(now));
          });
        expect(snapshots).toEqual(copies);
      }),
    );
  });

  it('are read from any events without throwing', () => {
    const word = fc.constantFrom(
      '',
      'a',
      'tide',
      '{"p":',
      '}',
      'tool_use',
      'function_call',
      'custom_tool_call',
      'stop',
    );
    const junk = fc.oneof(
      word,
      fc.constantFrom(null, undefined, 0, 1, -1, NaN, true),
      fc.constant([]),
      fc.constant({}),
    );
    const bag = (keys: string[], value: fc.Arbitrary<unknown>) =>
      fc.dictionary(fc.constantFrom(...keys, '__proto__'), value, { maxKeys: 4 });
    const few = (value: fc.Arbitrary<unknown>) => fc.oneof(junk, fc.array(value, { maxLength: 3 }));
    const inner = fc.oneof(
      junk,
      bag(['name', 'arguments', 'input', 'custom', 'type', 'id', 'call_id', 'status', 'index', 'partial_json'], junk),
    );
    const middle = bag(['index', 'id', 'type', 'function', 'custom', 'name', 'arguments', 'stop_reason'], inner);
    const outer = bag(
      [
        'delta',
        'item',
        'content_block',
        'message',
        'response',
        'index',
        'output_index',
        'item_id',
        'arguments',
        'input',
      ],
      fc.oneof(inner, middle, bag(['content', 'output', 'tool_calls', 'function_call'], few(middle))),
    );
    const type = fc.constantFrom(
      'response.created',
      'response.output_item.added',
      'response.output_item.done',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.custom_tool_call_input.delta',
      'response.custom_tool_call_input.done',
      'response.completed',
      'response.incomplete',
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
      'error',
    );
    const event = fc.oneof(
      fc.tuple(type, outer).map(([type, rest]) => ({ ...rest, type })),
      fc.record({ id: junk, choices: few(outer) }),
    ) as fc.Arbitrary<Event>;
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), fc.boolean(), (events, fails) => {
        const failure = new Error('of the source');
        const source = concat(from(events), fails ? throwError(() => failure) : of());
        for (const operator of [accumulateToolCalls({ partialInput: true }), toolCalls()]) {
          let error: unknown;
          source
            .pipe(operator as ReturnType<typeof toolCalls>)
            .subscribe({ error: (thrown: unknown) => (error = thrown) });
          expect(error).toBe(fails ? failure : undefined);
        }
      }),
      { numRuns: 1500 },
    );
  });

  it('do not trip over arguments that are nested too deep to be written', () => {
    const nested = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as object;
    expect(each([entries([{ id: 'a', function: { name: 'tide', arguments: nested } }]), finish])).toHaveLength(1);
  });
});
