import { from, lastValueFrom, map, toArray, type Observable } from 'rxjs';
import fc from 'fast-check';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  accumulateMessage,
  parseServerSentEvents,
  refusalDeltas,
  textDeltas,
  toolCalls,
  type ChatCompletion,
  type ChatCompletionChunk,
  type MessageObject,
  type MessageStreamEvent,
  type ResponseObject,
  type ResponseStreamEvent,
} from 'rx-llm';
import { chat, messages, responses } from 'rx-llm/testing';

type AnyEvent = ChatCompletionChunk | ResponseStreamEvent | MessageStreamEvent;
type AnyMessage = ChatCompletion | ResponseObject | MessageObject;

const folder = join(__dirname, '..', 'spec', 'data', 'transcripts');
const names = readdirSync(folder)
  .filter((name) => /^(chat|responses|messages).*\.sse$/.test(name))
  .map((name) => name.replace('.sse', ''));

/** The events of a transcript, without frames that the client raises as errors, up to one that is no frame. */
async function eventsOf(name: string): Promise<AnyEvent[]> {
  const events: AnyEvent[] = [];
  await lastValueFrom(
    from([readFileSync(join(folder, `${name}.sse`))]).pipe(
      parseServerSentEvents(),
      map(({ data }) => {
        const event = typeof data === 'string' && data.startsWith('{') ? (JSON.parse(data) as AnyEvent) : undefined;
        if (event && (!('error' in event) || 'choices' in event)) events.push(event);
      }),
      toArray(),
    ),
  ).catch(() => undefined);
  return events;
}

const accumulated = (events: readonly AnyEvent[]): Promise<AnyMessage[]> =>
  lastValueFrom(from(events).pipe(accumulateMessage(), toArray()));

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function textOf(message: AnyMessage): string {
  if ('choices' in message) {
    const content = message.choices[0]?.message.content ?? '';
    return typeof content === 'string' ? content : content.map((part) => ('text' in part ? part.text : '')).join('');
  }
  const blocks =
    'output' in message
      ? message.output.flatMap((item) => (item.type === 'message' ? item.content : []))
      : message.content;
  return blocks.map((block) => (block.type === 'text' || block.type === 'output_text' ? block.text : '')).join('');
}

function refusalOf(message: AnyMessage): string {
  if ('choices' in message) return message.choices[0]?.message.refusal ?? '';
  if ('content' in message) return '';
  const parts = message.output.flatMap((item) => (item.type === 'message' ? item.content : []));
  return parts.map((part) => (part.type === 'refusal' ? part.refusal : '')).join('');
}

/** Names and arguments of the calls, the latter as the text or the value that the endpoint has. */
function callsOf(message: AnyMessage): (readonly [string, unknown])[] {
  if ('choices' in message) {
    const calls = message.choices[0]?.message.tool_calls ?? [];
    return calls.map((call) =>
      call.type === 'function' ? [call.function.name, call.function.arguments] : [call.custom.name, call.custom.input],
    );
  }
  if ('content' in message) {
    return message.content.flatMap((block) => (block.type === 'tool_use' ? [[block.name, block.input] as const] : []));
  }
  return message.output.flatMap((item) =>
    item.type === 'function_call'
      ? [[item.name, item.arguments] as const]
      : item.type === 'custom_tool_call'
        ? [[item.name, item.input] as const]
        : [],
  );
}

describe('accumulateMessage', () => {
  describe('on the transcripts', () => {
    it.each(names)('%s: says what the other operators say', async (name) => {
      const events = await eventsOf(name);
      const message = (await accumulated(events)).at(-1);
      const joined = async (pieces: Observable<string>): Promise<string> =>
        (await lastValueFrom(pieces.pipe(toArray()))).join('');
      const calls = await lastValueFrom(from(events).pipe(toolCalls(), toArray()));
      const isMessage = message !== undefined && 'stop_reason' in message;

      expect(message ? textOf(message) : '').toBe(await joined(from(events).pipe(textDeltas())));
      if (!isMessage) {
        const refusals = from(events as (ChatCompletionChunk | ResponseStreamEvent)[]).pipe(refusalDeltas());
        expect(message ? refusalOf(message) : '').toBe(await joined(refusals));
      }
      // Calls that were cut are in the message, but are not called.
      const known = message ? callsOf(message) : [];
      const called = calls.map((call) => [call.name, isMessage ? call.input : call.arguments] as const);
      expect(known).toEqual(expect.arrayContaining(called));
    });

    it.each(names)('%s: changes neither its input nor what it emitted, and repeats nothing', async (name) => {
      const events = (await eventsOf(name)).map(deepFreeze);
      const seen = await lastValueFrom(from(events).pipe(accumulateMessage(), map(deepFreeze), toArray()));

      seen.forEach((message, i) => {
        if (i > 0) expect(message).not.toEqual(seen[i - 1]);
      });
    });

    it.each(names)('%s: shares whatever is equal in two emissions', async (name) => {
      const seen = await accumulated(await eventsOf(name));
      const unshared: string[] = [];
      const compare = (before: unknown, after: unknown, path: string): void => {
        if (Object.is(before, after) || !isObject(before) || !isObject(after)) return;
        if (JSON.stringify(before) === JSON.stringify(after)) unshared.push(path);
        for (const key of Object.keys(after)) {
          compare(before[key], after[key], `${path}.${key}`);
        }
      };
      seen.forEach((message, i) => {
        if (i > 0) compare(seen[i - 1], message, String(i));
      });

      expect(unshared).toEqual([]);
    });
  });

  describe('on any turn', () => {
    const words = fc.array(fc.string({ minLength: 1 }), { maxLength: 4 });
    const toolCall = fc.record({
      name: fc.constantFrom('tide', 'wind'),
      arguments: fc.dictionary(fc.string(), fc.string()),
    });
    const turns = fc.record({ text: words, reasoning: words, toolCalls: fc.array(toolCall, { maxLength: 3 }) });
    const calls = (given: readonly { readonly name: string; readonly arguments: object }[]): [string, unknown][] =>
      given.map(({ name, arguments: input }) => [name, input]);
    const parsed = ([name, text]: readonly [string, unknown]): [string, unknown] => [
      name,
      typeof text === 'string' ? JSON.parse(text) : text,
    ];
    const lastOf = (events: readonly AnyEvent[]): AnyMessage => {
      let last: AnyMessage | undefined;
      from(events)
        .pipe(accumulateMessage())
        .subscribe((message) => (last = message));
      return last as AnyMessage;
    };

    it('holds all that was said, in pieces or not', () => {
      fc.assert(
        fc.property(turns, ({ text, reasoning, toolCalls: given }) => {
          const options = { toolCalls: given, ...(reasoning.length > 0 && { reasoning }) };
          for (const events of [
            chat.turn(text, options),
            responses.turn(text, options),
            messages.turn(text, options),
          ]) {
            const message = lastOf(events);
            expect(textOf(message)).toBe(text.join(''));
            expect(callsOf(message).map(parsed)).toEqual(calls(given));
          }
        }),
      );
    });

    it('is the final response, listed or not', () => {
      fc.assert(
        fc.property(turns, fc.boolean(), ({ text, reasoning, toolCalls: given }, isListed) => {
          const events = responses.turn(text, { toolCalls: given, ...(reasoning.length > 0 && { reasoning }) });
          const end = events.pop() as Extract<ResponseStreamEvent, { readonly type: 'response.completed' }>;
          const response = isListed ? end.response : { ...end.response, output: [] };

          expect(lastOf([...events, { ...end, response }])).toEqual(end.response);
        }),
      );
    });
  });

  describe('takes time in proportion to the length of the stream', () => {
    const times = <T>(count: number, value: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => value(i));
    const chat = (delta: object, choice: object = {}): AnyEvent => ({ choices: [{ index: 0, delta, ...choice }] });
    const piece = 'a piece of text, and then ';
    const logprobs = { content: [{ token: piece, logprob: -1 }] };
    const block = { type: 'tool_use', id: 't', name: 'f', input: {} } as const;

    it.each<[string, (count: number) => AnyEvent[]]>([
      ['text', (count) => times(count, () => chat({ content: piece }))],
      ['text with log probabilities', (count) => times(count, () => chat({ content: piece }, { logprobs }))],
      [
        'reasoning details',
        (count) => times(count, () => chat({ reasoning_details: [{ type: 'reasoning.text', index: 0, text: piece }] })),
      ],
      [
        'arguments of calls',
        (count) =>
          times(count, (i) =>
            chat({ tool_calls: [{ index: i % 3, id: `call_${i % 3}`, function: { name: 'f', arguments: piece } }] }),
          ),
      ],
      [
        'input of a block',
        (count) => [
          { type: 'content_block_start', index: 0, content_block: block },
          ...times(
            count,
            () =>
              ({
                type: 'content_block_delta',
                index: 0,
                delta: { type: 'input_json_delta', partial_json: piece },
              }) as const,
          ),
        ],
      ],
      [
        'reasoning in parts without end',
        (count) =>
          times(
            count,
            (content_index) =>
              ({ type: 'response.reasoning_text.delta', output_index: 0, content_index, delta: piece }) as const,
          ),
      ],
    ])('%s', (_, make) => {
      const cost = (count: number): number => {
        const events = make(count);
        const rounds = times(3, () => {
          const start = performance.now();
          from(events).pipe(accumulateMessage()).subscribe();
          return performance.now() - start;
        });
        return Math.min(...rounds);
      };
      cost(1000);

      // Sixteen times as much, were it quadratic.
      expect(cost(16_000) / cost(4000)).toBeLessThan(10);
    });
  });
});
