import { expectTypeOf } from 'expect-type';
import { from, lastValueFrom, toArray, type Observable } from 'rxjs';
import { accumulateText, isKnownEvent, reasoningDeltas, refusalDeltas, toolCalls } from 'rx-llm';
import type { EndpointName, EventsOf } from '../events.js';
import { chat, images, letters, messages, responses } from './index.js';

const list = <T>(source: Observable<T>): Promise<T[]> => lastValueFrom(source.pipe(toArray()));
const weather = { name: 'weather', arguments: { city: 'Oslo', days: [1, 2, 3] } };

describe('event builders', () => {
  it('give equal events for equal calls', () => {
    expect(chat.text('a')).toEqual(chat.text('a'));
    expect(responses.text('a')).toEqual(responses.text('a'));
    expect(messages.start()).toEqual(messages.start());
    expect(images.completed('a')).toEqual(images.completed('a'));
  });

  it('give events of their endpoint', () => {
    expectTypeOf(chat.text('a')).toEqualTypeOf<EventsOf['chatCompletions']>();
    expectTypeOf(responses.text('a')).toExtend<EventsOf['responses']>();
    expectTypeOf(messages.text('a')).toExtend<EventsOf['messages']>();
    expectTypeOf(images.partial('a')).toExtend<EventsOf['images']>();
    expectTypeOf(responses.created().type).toEqualTypeOf<'response.created'>();
    expectTypeOf(messages.stop().type).toEqualTypeOf<'message_stop'>();
  });

  it('give events that the library knows', () => {
    const url = { type: 'url_citation', url: 'https://a.example' } as const;
    const events: EventsOf[EndpointName][] = [
      ...[chat.role(), chat.text('a'), chat.reasoning('a'), chat.refusal('a'), chat.finish('stop'), chat.usage({})],
      ...[chat.toolCall(weather), chat.toolArguments('{'), chat.error('no')],
      ...[responses.created(), responses.inProgress(), responses.text('a'), responses.textDone('a')],
      ...[responses.reasoning('a'), responses.reasoningSummary('a'), responses.refusal('a'), responses.annotation(url)],
      ...[responses.toolCall(weather), responses.toolArguments('{'), responses.toolArgumentsDone({ a: 1 })],
      ...[responses.toolCallDone(weather), responses.partialImage('a'), responses.completed(), responses.keepalive()],
      ...[responses.incomplete('max_output_tokens'), responses.failed('no'), responses.error('no')],
      ...[messages.start(), messages.blockStart({ type: 'text', text: '' }), messages.text('a'), messages.blockStop()],
      ...[messages.reasoning('a'), messages.signature('a'), messages.toolCall(weather), messages.toolArguments('{')],
      ...[messages.usage({ output_tokens: 1 }), messages.finish('end_turn'), messages.stop(), messages.ping()],
      ...[messages.error('no'), images.partial('a'), images.completed('a'), images.text('a'), images.error('no')],
    ];
    expect(events.filter((event) => !isKnownEvent(event))).toEqual([]);
  });

  it('take other fields of the envelope, and other places', () => {
    expect(chat.finish('stop', { choice: 1, id: 'x', cost_usd: 0.1 })).toMatchObject({
      id: 'x',
      cost_usd: 0.1,
      choices: [{ index: 1, delta: {}, finish_reason: 'stop' }],
    });
    expect(responses.text('a', { output_index: 2, item_id: 'x', sequence_number: 7 })).toEqual({
      type: 'response.output_text.delta',
      output_index: 2,
      item_id: 'x',
      sequence_number: 7,
      content_index: 0,
      delta: 'a',
    });
    expect(messages.text('a', { index: 3 })).toMatchObject({ index: 3 });
    expect(images.partial('a', 2, { size: '1x1' })).toMatchObject({ partial_image_index: 2, size: '1x1' });
  });

  it('build a tool call whole or in pieces', () => {
    expect(chat.toolCall(weather).choices?.[0]?.delta?.tool_calls).toEqual([
      {
        index: 0,
        id: 'call_1',
        type: 'function',
        function: { name: 'weather', arguments: JSON.stringify(weather.arguments) },
      },
    ]);
    expect(chat.toolCall({ index: 1, arguments: '{"a' }).choices?.[0]?.delta?.tool_calls).toEqual([
      { index: 1, function: { arguments: '{"a' } },
    ]);
    expect(chat.toolArguments('{"a', { index: 1 })).toEqual(chat.toolCall({ index: 1, arguments: '{"a' }));
    expect(messages.toolCall({ name: 'weather' }).content_block).toMatchObject({ input: {} });
    expect(messages.toolCall(weather).content_block).toMatchObject({ input: weather.arguments });
    expect(responses.toolCall(weather, { output_index: 1 }).item).toMatchObject({
      call_id: 'call_2',
      status: 'in_progress',
    });
  });

  it('add up the total where it is not given', () => {
    expect(chat.usage({ prompt_tokens: 3, completion_tokens: 2 }).usage?.total_tokens).toBe(5);
    expect(chat.usage({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 9 }).usage?.total_tokens).toBe(9);
    const { response } = responses.completed({ usage: { input_tokens: 3, output_tokens: 2 } });
    expect(response.usage?.total_tokens).toBe(5);
  });
});

describe('whole turns', () => {
  const options = { reasoning: 'Let me see', toolCalls: [weather, { name: 'clock' }] };
  const turns = {
    chat: chat.turn('Hello big world', options),
    responses: responses.turn('Hello big world', options),
    messages: messages.turn('Hello big world', options),
  };

  it.each(Object.entries(turns))('of %s hold the text, the reasoning and the tool calls', async (_, turn) => {
    const source = from<EventsOf[EndpointName][]>(turn) as Observable<EventsOf['chatCompletions']>;
    expect(await lastValueFrom(source.pipe(accumulateText()))).toBe('Hello big world');
    expect((await list(source.pipe(reasoningDeltas()))).join('')).toBe('Let me see');
    expect((await list(source.pipe(toolCalls()))).map(({ name, input }) => ({ name, input }))).toEqual([
      { name: 'weather', input: weather.arguments },
      { name: 'clock', input: {} },
    ]);
  });

  it('stream text word by word, or in the pieces that are given', () => {
    const texts = (turn: readonly EventsOf['chatCompletions'][]): unknown[] =>
      turn.map(({ choices }) => choices?.[0]?.delta?.content).filter(Boolean);
    expect(texts(chat.turn('Hello  big world '))).toEqual(['Hello', '  big', ' world ']);
    expect(texts(chat.turn(['Hel', 'lo']))).toEqual(['Hel', 'lo']);
    expect(texts(chat.turn(''))).toEqual([]);
  });

  it('of responses are numbered, with every item opened, closed and in the final output', () => {
    const turn = responses.turn('Hi', { ...options, usage: { input_tokens: 3, output_tokens: 2 } });
    expect(turn.map((event) => event.sequence_number)).toEqual(turn.map((_, index) => index));

    const added = turn.flatMap((event) => (event.type === 'response.output_item.added' ? [event.output_index] : []));
    const done = turn.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []));
    const last = turn.at(-1);
    expect(added).toEqual([0, 1, 2, 3]);
    expect(last?.type === 'response.completed' && last.response.output).toEqual(done);
    expect(last?.type === 'response.completed' && last.response.usage?.total_tokens).toBe(5);
  });

  it('of responses may be incomplete', () => {
    const last = responses.turn('Hi', { incomplete: 'max_output_tokens' }).at(-1);
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
  });

  it('may hold a refusal', async () => {
    expect(await list(from(chat.turn('', { refusal: 'I cannot' })).pipe(refusalDeltas()))).toEqual(['I', ' cannot']);
    expect(await list(from(responses.turn('', { refusal: 'I cannot' })).pipe(refusalDeltas()))).toEqual([
      'I',
      ' cannot',
    ]);
  });

  it('of messages open and close their blocks one after another', () => {
    const order = messages.turn('Hi', options).flatMap((event) => ('index' in event ? [event.index] : []));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(new Set(order).size).toBe(4);
    expect(messages.turn('Hi', options).at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } });
  });

  it('of messages tell the input at the start and the whole usage at the end', () => {
    const turn = messages.turn('Hi', { usage: { input_tokens: 9, output_tokens: 4 } });
    expect(turn[0]).toMatchObject({ message: { usage: { input_tokens: 9, output_tokens: 1 } } });
    expect(turn.at(-2)).toMatchObject({ usage: { input_tokens: 9, output_tokens: 4 } });
  });

  it('of images show rough versions, then the image', () => {
    const turn = images.turn('image', { partials: ['p', 'q'], usage: { output_tokens: 7 } });
    expect(turn).toEqual([
      images.partial('p', 0),
      images.partial('q', 1),
      images.completed('image', { usage: { output_tokens: 7 } }),
    ]);
    expect(images.turn(['one', 'two'])).toHaveLength(2);
  });

  it('end a chat with its usage, or leave it unfinished', () => {
    expect(chat.turn('Hi', { usage: { prompt_tokens: 1, completion_tokens: 1 } }).at(-1)).toMatchObject({
      choices: [],
    });
    expect(chat.turn('Hi', { finish: null }).at(-1)).toEqual(chat.text('Hi'));
    expect(chat.turn('Hi', { finish: 'length' }).at(-1)).toEqual(chat.finish('length'));
  });
});

describe('letters', () => {
  it('names values in their order', () => {
    expect(letters(['x', 'y'])).toEqual({ a: 'x', b: 'y' });
    expect(Object.keys(letters(Array.from({ length: 52 }))).slice(24, 28)).toEqual(['y', 'z', 'A', 'B']);
    expect(() => letters(Array.from({ length: 53 }))).toThrow('There are 52 letters, and 53 values to name.');
  });
});
