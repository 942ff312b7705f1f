import fc from 'fast-check';
import { from } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import {
  accumulateText,
  annotations,
  finalImages,
  finalReceipt,
  finalUsage,
  finishReason,
  partialImages,
  reasoningDeltas,
  refusalDeltas,
  textDeltas,
} from 'rx-llm';
import { chat, messages, responses } from 'rx-llm/testing';

function collect<T, R>(events: readonly T[], operator: OperatorFunction<T, R>): R[] {
  const seen: R[] = [];
  const failures: unknown[] = [];
  from(events)
    .pipe(operator)
    .subscribe({ next: (value) => seen.push(value), error: (error) => failures.push(error) });
  expect(failures).toEqual([]);
  return seen;
}

/** Splits each text at random places, into pieces that may be empty. */
const split = fc
  .array(fc.string({ unit: 'binary', maxLength: 12 }), { maxLength: 12 })
  .map((pieces) => ({ pieces, whole: pieces.join('') }));

describe('the text of an answer, however it is cut', () => {
  const streams = {
    chat: (pieces: readonly string[]) => pieces.map((piece) => chat.text(piece)),
    messages: (pieces: readonly string[]) => pieces.map((piece) => messages.text(piece)),
    responses: (pieces: readonly string[]) => pieces.map((piece) => responses.text(piece)),
  };

  it.each(Object.entries(streams))('is what its pieces are when joined, none of them empty: %s', (_, stream) => {
    fc.assert(
      fc.property(split, ({ pieces, whole }) => {
        const seen = collect(stream(pieces), textDeltas());
        expect(seen.join('')).toBe(whole);
        expect(seen).not.toContain('');
        expect(collect(stream(pieces), accumulateText()).at(-1) ?? '').toBe(whole);
      }),
    );
  });

  it('is whole on Responses, wherever its deltas stop and whatever closes it', () => {
    const message = (text: string) => ({
      type: 'message' as const,
      id: 'msg_1',
      role: 'assistant' as const,
      content: [{ type: 'output_text' as const, text, annotations: [] }],
    });
    const closings = [
      (text: string) => responses.textDone(text),
      (text: string) => responses.itemDone(message(text)),
      (text: string) => responses.completed({ output: [message(text)] }),
    ];
    fc.assert(
      fc.property(
        split,
        fc.nat(12),
        fc.shuffledSubarray([0, 1, 2], { minLength: 1 }),
        ({ pieces, whole }, cut, order) => {
          const deltas = pieces.slice(0, cut).map((piece) => responses.text(piece));
          const ends = [...order].sort().map((index) => closings[index]!(whole));
          expect(collect([...deltas, ...ends], textDeltas()).join('')).toBe(whole);
        },
      ),
    );
  });

  it('is kept apart from reasoning and refusals', () => {
    const piece = fc.record({ kind: fc.constantFrom('text', 'reasoning', 'refusal'), text: fc.string() } as const);
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const of = (kind: string) =>
          pieces
            .filter((each) => each.kind === kind)
            .map(({ text }) => text)
            .join('');
        for (const build of [chat, responses]) {
          const events = pieces.map(({ kind, text }) => build[kind](text));
          expect(collect(events, textDeltas()).join('')).toBe(of('text'));
          expect(collect(events, reasoningDeltas()).join('')).toBe(of('reasoning'));
          expect(collect(events, refusalDeltas()).join('')).toBe(of('refusal'));
        }
      }),
    );
  });

  it('is that of its choice, however choices interleave', () => {
    const piece = fc.record({ choice: fc.nat(3), text: fc.string() });
    fc.assert(
      fc.property(fc.array(piece), fc.nat(3), (pieces, choice) => {
        const events = pieces.map(({ text, choice }) => chat.text(text, { choice }));
        const own = pieces.filter((each) => each.choice === choice).map(({ text }) => text);
        expect(collect(events, textDeltas({ choice })).join('')).toBe(own.join(''));
      }),
    );
  });
});

describe('events that are not what they should be', () => {
  const operators = {
    accumulateText: accumulateText(),
    annotations: annotations(),
    finalImages: finalImages(),
    finalReceipt: finalReceipt({ onError: 'emit' }),
    finalUsage: finalUsage({ onError: 'emit' }),
    finishReason: finishReason(),
    partialImages: partialImages(),
    reasoningDeltas: reasoningDeltas(),
    refusalDeltas: refusalDeltas(),
    textDeltas: textDeltas(),
  };
  const names = [
    ...['choices', 'delta', 'message', 'content', 'reasoning', 'reasoning_details', 'refusal', 'annotations', 'images'],
    ...['citations', 'search_results', 'tool_calls', 'function_call', 'finish_reason', 'usage', 'x_groq', 'index'],
    ...[
      'response',
      'output',
      'item',
      'part',
      'text',
      'summary',
      'annotation',
      'output_index',
      'content_index',
      'result',
    ],
    ...['content_block', 'citation', 'stop_reason', 'routing', 'b64_json', 'url', '__proto__', 'constructor'],
  ];
  const types = [
    ...['response.created', 'response.output_text.delta', 'response.output_text.done', 'response.refusal.done'],
    ...['response.reasoning.delta', 'response.reasoning_text.done', 'response.content_part.done', 'response.completed'],
    ...[
      'response.output_item.done',
      'response.output_text.annotation.added',
      'response.done',
      'response.constructor.x',
    ],
    ...['response.image_generation_call.partial_image', 'message_start', 'content_block_start', 'content_block_delta'],
    ...[
      'message_delta',
      'image_generation.completed',
      'image_edit.partial_image',
      'text',
      'error',
      'ping',
      'keepalive',
    ],
  ];
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(null, undefined, true, 0, 1, -1, NaN, '', 'text', 'output_text', 'message', 'reasoning_text'),
      fc.array(tie('any'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 5, noNullPrototype: true }),
  })).object;
  const event = fc
    .tuple(value, fc.option(fc.constantFrom(...types), { nil: undefined }))
    .map(([fields, type]) => (type === undefined ? fields : { ...fields, type }));

  it.each(Object.entries(operators))('make %s neither throw nor emit anything empty', (_, operator) => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), (events) => {
        for (const seen of collect(events as never[], operator as OperatorFunction<never, unknown>)) {
          expect(seen).toBeTruthy();
          if (typeof seen !== 'string') expect(Object.values(seen ?? {})).not.toContain(undefined);
        }
      }),
      { numRuns: 300 },
    );
  });
});
