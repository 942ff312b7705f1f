// The AI SDK and rx-llm send the same requests to the gateway, on each endpoint and in both dialects; their text, tool calls, finish
// reason and tokens are compared, streamed and whole. Exits with 1 when they differ.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateImage, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import assert from 'node:assert/strict';
import { createLlmClient, finalUsage, finishReason, refusalDeltas, textDeltas, toolCalls } from 'rx-llm';
import { startGateway } from 'rx-llm/gateway';
import { lastValueFrom, share, toArray } from 'rxjs';
import { scenarios } from './scenarios.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;
const METHODS = { chat: 'chatCompletions', responses: 'responses', messages: 'messages' };
const FINISH = { tool_calls: 'tool-calls', content_filter: 'content-filter' };
let failures = 0;
let checks = 0;

for (const dialect of ['a', 'b']) {
  const gateway = await startGateway({ dialect });
  const client = createLlmClient({ baseUrl: gateway.url, apiKey: 'demo' });
  const openai = createOpenAI({ baseURL: gateway.url, apiKey: 'demo' });
  const anthropic = createAnthropic({ baseURL: gateway.url, apiKey: 'demo' });
  const models = {
    chat: openai.chat('vendor/leaf-1'),
    responses: openai.responses('vendor/leaf-1'),
    messages: anthropic('claude-opus-4-5'), // a name of which the provider knows that it takes schemas
  };

  for (const [endpoint, model] of Object.entries(models)) {
    for (const [name, scenario] of Object.entries(scenarios)) {
      await check(`${dialect} ${endpoint}: ${name}`, async () => {
        const options = { model, maxRetries: 0, ...scenario };
        // The SDK's own request, sent again: its body differs a little between streaming and not.
        const again = () => rxLlm(client[METHODS[endpoint]](gateway.journal.at(-1).body));
        const stream = await streamed(options);
        assert.deepEqual(stream, await again(), 'streamText differs from rx-llm');
        const whole = reading(await generateText(options));
        assert.deepEqual(whole, await again(), 'generateText differs from rx-llm');
        assert.ok(stream.text !== '' || stream.calls.length > 0);
      });
    }
    await check(`${dialect} ${endpoint}: an agent that uses its tools until it has an answer`, async () => {
      const now = tool({
        inputSchema: jsonSchema({ type: 'object', properties: {} }),
        execute: () => ({ clock: '12:30' }),
      });
      const result = streamText({
        model,
        prompt: 'What time is it now?',
        tools: { now },
        stopWhen: stepCountIs(4),
        onError: raise,
      });
      assert.match(await result.text, /now says clock 12:30/);
      assert.equal((await result.steps).length, 2);
    });
  }
  await check(`${dialect} images`, async () => {
    const { image } = await generateImage({ model: openai.image('gpt-image-1'), prompt: 'A teapot', size: '64x64' });
    assert.deepEqual([...image.uint8Array.slice(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  });
  await gateway.close();
}
console.log(`${checks - failures} of ${checks} agree`);
process.exitCode = failures > 0 ? 1 : 0;

async function check(name, run) {
  checks++;
  try {
    await run();
    console.log(`ok   ${name}`);
  } catch (error) {
    failures++;
    console.log(`FAIL ${name}\n${error instanceof Error ? error.message : error}`);
  }
}

async function rxLlm(events$) {
  const shared = events$.pipe(share());
  const [text, refusal, calls, usage, finish] = await Promise.all([
    lastValueFrom(shared.pipe(textDeltas(), toArray())),
    lastValueFrom(shared.pipe(refusalDeltas(), toArray())),
    lastValueFrom(shared.pipe(toolCalls(), toArray())),
    lastValueFrom(shared.pipe(finalUsage())),
    lastValueFrom(shared.pipe(finishReason())),
  ]);
  return {
    // To rx-llm a refusal is no text; the AI SDK shows it as text and gives the reason instead.
    text: [...text, ...refusal].join(''),
    calls: calls.map((call) => ({ name: call.name, input: call.input })),
    usage: [usage.inputTokens, usage.outputTokens],
    finish: refusal.length > 0 ? 'content-filter' : (FINISH[finish.reason] ?? finish.reason),
  };
}

async function streamed(options) {
  const result = streamText({ ...options, onError: raise });
  let text = '';
  for await (const part of result.fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-delta') text += part.text;
  }
  const [toolCalls, usage, finishReason] = await Promise.all([result.toolCalls, result.usage, result.finishReason]);
  return reading({ text, toolCalls, usage, finishReason });
}

function reading({ text, toolCalls, usage, finishReason }) {
  return {
    text,
    calls: toolCalls.map((call) => ({ name: call.toolName, input: call.input })),
    usage: [usage.inputTokens, usage.outputTokens],
    finish: finishReason,
  };
}

function raise({ error }) {
  throw error;
}
