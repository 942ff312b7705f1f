import { TestBed } from '@angular/core/testing';
import { LlmClient, StreamEventError } from 'rx-llm';
import { chat, fakeLlmClient, images, type FakeAnswers } from 'rx-llm/testing';
import { concat, NEVER, of, throwError } from 'rxjs';
import { Conversation } from './conversation';
import { FETCH_CLIENT, Settings } from './settings';

function converse(answers: FakeAnswers) {
  const llm = fakeLlmClient(answers);
  TestBed.configureTestingModule({
    providers: [
      { provide: LlmClient, useValue: llm },
      { provide: FETCH_CLIENT, useValue: fakeLlmClient({}) },
    ],
  });
  const conversation = TestBed.inject(Conversation);
  const shown = () => {
    TestBed.tick();
    return conversation
      .turns()
      .map(({ question, steps }) => [question, ...steps.map(({ status, text }) => `${status}: ${text}`)]);
  };
  return { conversation, llm, shown };
}

describe('Conversation', () => {
  it('answers a question', () => {
    const { conversation, shown } = converse({ chatCompletions: chat.turn('Because of the moon') });

    conversation.send('Why are there tides?');

    expect(shown()).toEqual([['Why are there tides?', 'done: Because of the moon']]);
    expect(conversation.active()).toBe(false);
  });

  it('sends what was said before along', () => {
    const { conversation, llm, shown } = converse({ chatCompletions: chat.turn('The moon') });

    conversation.send('Why?');
    conversation.send('And at night?');

    expect(shown()).toEqual([
      ['Why?', 'done: The moon'],
      ['And at night?', 'done: The moon'],
    ]);
    expect(llm.requests[1]?.request).toMatchObject({
      messages: [
        { role: 'user', content: 'Why?' },
        { role: 'assistant', content: 'The moon' },
        { role: 'user', content: 'And at night?' },
      ],
    });
  });

  it('runs the tools that the model calls, and goes on with their results', () => {
    const called = chat.turn('', {
      toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo', unit: 'celsius' } }],
    });
    let asked = 0;
    const { conversation, llm, shown } = converse({
      chatCompletions: () => of(...(asked++ === 0 ? called : chat.turn('It rains'))),
    });

    conversation.send('Weather in Oslo?');

    expect(shown()).toEqual([['Weather in Oslo?', 'done: ', 'done: It rains']]);
    expect(llm.requests).toHaveLength(2);
    expect(llm.requests[1]?.request).toMatchObject({
      messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'tool', tool_call_id: 'call_1' }],
    });
    expect(Object.values(conversation.turns()[0]!.steps[0]!.results)[0]).toContain('"city":"Oslo"');
  });

  it('keeps the text of an answer that fails, and can ask again', () => {
    const error = new StreamEventError('overloaded');
    let asked = 0;
    const { conversation, shown } = converse({
      chatCompletions: () =>
        asked++ === 0
          ? concat(
              of(chat.text('The mo')),
              throwError(() => error),
            )
          : of(...chat.turn('The moon')),
    });

    conversation.send('Why?');
    expect(shown()).toEqual([['Why?', 'failed: The mo']]);
    expect(conversation.turns()[0]!.steps[0]!.error).toBe(error);
    conversation.again();

    expect(shown()).toEqual([['Why?', 'done: The moon']]);
  });

  it('stops: the request ends, the text stays', () => {
    const { conversation, llm, shown } = converse({ chatCompletions: () => concat(of(chat.text('The mo')), NEVER) });

    conversation.send('Why?');
    conversation.stop();

    expect(shown()).toEqual([['Why?', 'stopped: The mo']]);
    expect(llm.requests[0]?.state).not.toBe('open');
  });

  it('paints pictures at the endpoint for images', () => {
    const { conversation, llm } = converse({ images: images.turn('AAAA', { partials: ['AA'] }) });
    TestBed.inject(Settings).endpoint.set('images');

    conversation.send('A lighthouse');

    expect(llm.requests[0]?.request).toMatchObject({ prompt: 'A lighthouse', partial_images: 3 });
    expect(conversation.turns()[0]!.steps[0]!.picture).toMatchObject({ b64: 'AAAA', partial: false });
  });

  it('adds up what answers have cost', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    const { conversation } = converse({ chatCompletions: chat.turn('The moon', { usage }) });

    conversation.send('Why?');
    conversation.send('Why?');

    expect(conversation.totals()).toMatchObject({ input: 20, output: 10 });
  });
});
