import { chat, fakeLlmClient, marbles, messages, responses } from 'rx-llm/testing';
import { textDeltas, type ToolCall } from 'rx-llm';
import { ask, type Message } from './requests';

const call: ToolCall = {
  key: '0',
  id: 'call_1',
  name: 'get_weather',
  arguments: '{"city":"Oslo"}',
  input: { city: 'Oslo' },
  complete: true,
  valid: true,
  choice: 0,
};
const conversation: Message[] = [
  { role: 'user', text: 'Is it raining in Oslo?' },
  { role: 'assistant', text: '', toolCalls: [call] },
  { role: 'tool', call, result: '{"sky":"rain"}' },
];

describe('ask', () => {
  it(
    'streams the text of whichever endpoint is asked',
    marbles(
      { c: chat.text('It rains'), r: responses.text('It rains'), m: messages.text('It rains') },
      ({ cold, expectObservable, expectSubscriptions }) => {
        const llm = fakeLlmClient({
          chatCompletions: () => cold('  --c-|'),
          responses: () => cold('        -r--|'),
          messages: () => cold('         ---m|'),
        });
        const answer = (endpoint: 'chatCompletions' | 'responses' | 'messages') =>
          ask(llm, endpoint, conversation, false, {}).pipe(textDeltas());

        const x = { x: 'It rains' };
        expectObservable(answer('chatCompletions')).toBe('--x-|', x);
        expectObservable(answer('responses')).toBe('      -x--|', x);
        expectObservable(answer('messages'), '^-!').toBe('---', x);
        expectSubscriptions(llm.subscriptions).toBe(['    ^---!', '^---!', '^-!']);
      },
    ),
  );

  it('puts calls and their results in each endpoint’s own words', () => {
    const llm = fakeLlmClient({
      chatCompletions: chat.turn('Yes'),
      responses: responses.turn('Yes'),
      messages: messages.turn('Yes'),
    });

    for (const endpoint of ['chatCompletions', 'responses', 'messages'] as const) {
      ask(llm, endpoint, conversation, true, {}).subscribe();
    }

    const [byChat, byResponses, byMessages] = llm.requests.map(({ request }) => request as object);
    expect(byChat).toMatchObject({
      reasoning_effort: 'low',
      messages: [{ role: 'user' }, { tool_calls: [{ id: 'call_1' }] }, { role: 'tool', tool_call_id: 'call_1' }],
    });
    expect(byResponses).toMatchObject({
      input: [
        { role: 'user' },
        { type: 'function_call', call_id: 'call_1' },
        { type: 'function_call_output', call_id: 'call_1', output: '{"sky":"rain"}' },
      ],
    });
    expect(byMessages).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', input: { city: 'Oslo' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1' }] },
      ],
    });
  });
});
