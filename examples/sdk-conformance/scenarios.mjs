// What is asked, in the words of the AI SDK.
import { jsonSchema, Output, tool } from 'ai';

const weather = jsonSchema({
  type: 'object',
  properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['C', 'F'] } },
  required: ['city', 'unit'],
  additionalProperties: false,
});
const tea = jsonSchema({
  type: 'object',
  properties: { name: { type: 'string' }, notes: { type: 'array', items: { type: 'string' } } },
  required: ['name', 'notes'],
  additionalProperties: false,
});
const nothing = jsonSchema({ type: 'object', properties: {}, additionalProperties: false });
const tools = {
  get_weather: tool({ description: 'Tells the weather', inputSchema: weather }),
  now: tool({ description: 'Tells the time', inputSchema: nothing }),
};

export const scenarios = {
  'plain text': { prompt: 'Tell me about green tea' },
  'text in Japanese': { prompt: '緑茶について教えてください' },
  reasoning: {
    prompt: 'Why is the sky blue?',
    providerOptions: {
      openai: { forceReasoning: true, reasoningEffort: 'low', reasoningSummary: 'auto' },
      anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } },
    },
  },
  'parallel tool calls': { prompt: 'What is the weather in Paris and in Oslo?', tools },
  'a tool without parameters': { prompt: 'What time is it?', tools, toolChoice: { type: 'tool', toolName: 'now' } },
  'an answer after a tool': {
    tools,
    messages: [
      { role: 'user', content: 'Weather in Paris?' },
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', toolCallId: 'c1', toolName: 'get_weather', input: { city: 'Paris', unit: 'C' } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'get_weather',
            output: { type: 'json', value: { temperature: 21, sky: 'clear ☀️' } },
          },
        ],
      },
    ],
  },
  'structured output': { prompt: 'Describe Sencha', output: Output.object({ schema: tea, name: 'tea' }) },
  'an answer cut by its limit': { prompt: 'Write a long story', maxOutputTokens: 17 },
  'a stop sequence': { prompt: 'Say "one 二 END three"', stopSequences: ['END'] },
  'a refusal': { prompt: 'Please refuse this' },
};
