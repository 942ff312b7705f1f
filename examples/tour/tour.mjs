// What `npm start` shows: the four endpoints, streamed live. Against the embedded gateway, or a real one:
//
//   RX_LLM_BASE_URL=https://gateway.example/v1 RX_LLM_API_KEY=… RX_LLM_MODEL=… npm start
//
// RX_LLM_IMAGE_MODEL names the model of the images part where it is another one.
import { lastValueFrom, share, take, tap } from 'rxjs';
import {
  accumulateToolCalls,
  createLlmClient,
  finalImages,
  finalReceipt,
  finalUsage,
  finishReason,
  partialImages,
  reasoningDeltas,
  retryBeforeFirstToken,
  textDeltas,
} from 'rx-llm';
import { startGateway } from 'rx-llm/gateway';

const { RX_LLM_BASE_URL: baseUrl, RX_LLM_API_KEY: key, RX_LLM_MODEL: model = 'auto', RX_LLM_IMAGE_MODEL } = process.env;
const colours = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text);
const [bold, dim, red, green, cyan] = [1, 2, 31, 32, 36].map(paint);
const write = (text) => process.stdout.write(text);
const line = (text = '') => write(`${text}\n`);

const gateway = baseUrl
  ? undefined
  : await startGateway({ dialect: 'b', pace: { ttftMs: 150, tokensPerSecond: 90, jitter: 0.4 } });
const client = createLlmClient({
  baseUrl: baseUrl ?? gateway.url,
  apiKey: key ?? 'key-of-the-tour',
  timeouts: { headersMs: 60_000, firstTokenMs: 60_000, idleMs: 30_000 },
});

const summary = [];

/** One part of the tour: prints as it comes, and goes on after a failure. */
async function part(title, run) {
  line(`\n${bold(`── ${title}`)}`);
  const began = performance.now();
  let outcome = 'complete';
  printed = '';
  try {
    await run();
  } catch (error) {
    outcome = error.name;
    line(red(`${error.name}: ${error.message}`));
  }
  summary.push({ title, outcome, ms: Math.round(performance.now() - began) });
}

/** Subscribes to several readings of one answer: one request, several operators. */
async function readAll(source, ...readings) {
  const shared = source.pipe(share());
  const results = readings.map((read) => lastValueFrom(read(shared), { defaultValue: undefined }));
  return Promise.all(results);
}

// Reasoning and text share the screen: a new line where one takes over from the other.
let printed = '';
const print = (kind = 'text', style = (text) => text) =>
  tap((piece) => {
    if (printed !== '' && printed !== kind) line();
    printed = kind;
    write(style(piece));
  });
const text = (source) => source.pipe(textDeltas(), print());
const reasoning = (source) => source.pipe(reasoningDeltas(), print('reasoning', dim));
const usage = (source) => source.pipe(finalUsage());
const receipt = (source) => source.pipe(finalReceipt());
const finish = (source) => source.pipe(finishReason());

function account(usage, receipt, finish) {
  line();
  if (usage) {
    const parts = [`${usage.inputTokens ?? '?'} tokens in`, `${usage.outputTokens ?? '?'} out`];
    if (usage.reasoningTokens) parts.push(`${usage.reasoningTokens} of them reasoning`);
    if (usage.costUsd !== undefined) parts.push(`$${usage.costUsd}`);
    line(cyan(`usage    ${parts.join(', ')}`));
  }
  if (receipt) {
    const { requestId, provider, resolvedModel, model } = receipt;
    line(cyan(`receipt  ${[requestId, provider, resolvedModel ?? model].filter(Boolean).join(' · ')}`));
  }
  if (finish) line(cyan(`finish   ${finish.reason} (the wire says "${finish.raw}")`));
}

/** Prints what each snapshot adds: the wire may fill several calls at once. */
function printCalls() {
  const shown = new Map();
  let last;
  return tap((calls) => {
    for (const call of calls) {
      const before = shown.get(call.key) ?? 0;
      if (call.arguments.length === before && shown.has(call.key)) continue;
      if (last !== call.key) write(`${last === undefined ? '' : '\n'}${green(`${call.name} `)}`);
      write(call.arguments.slice(before));
      shown.set(call.key, call.arguments.length);
      last = call.key;
    }
  });
}

const user = (content) => ({ role: 'user', content });
const weather = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] }, days: { type: 'integer' } },
    required: ['city', 'unit', 'days'],
  },
};

line(`${bold('rx-llm')} on ${baseUrl ? `${baseUrl}, model ${model}` : `its embedded gateway at ${gateway.url}`}`);

await part('Chat Completions: text as it comes', async () => {
  const source = client.chatCompletions({
    model,
    messages: [user('Tell me of the sea in three sentences.')],
    max_tokens: 120,
  });
  const [, ...rest] = await readAll(source, text, usage, receipt, finish);
  account(...rest);
});

await part('Chat Completions: tool calls being put together', async () => {
  const source = client.chatCompletions({
    model,
    messages: [user('What is the weather in Lisbon and in Tromsø?')],
    tools: [{ type: 'function', function: weather }],
    parallel_tool_calls: true,
  });
  const [, calls, ...rest] = await readAll(
    source,
    text,
    (s) => s.pipe(accumulateToolCalls(), printCalls()),
    usage,
    receipt,
    finish,
  );
  const valid = calls?.filter((call) => call.valid).length ?? 0;
  write(`\n${valid} complete, with arguments that parse`);
  account(...rest);
});

await part('Responses: reasoning, then text', async () => {
  const source = client.responses({
    model,
    input: 'How many lighthouses does a coast of 120 km need?',
    reasoning: { effort: 'medium', summary: 'auto' },
    max_output_tokens: 400,
  });
  const [, , ...rest] = await readAll(source, reasoning, text, usage, receipt, finish);
  account(...rest);
});

await part('Messages: thinking, then text', async () => {
  const source = client.messages({
    model,
    max_tokens: 2048,
    thinking: { type: 'enabled', budget_tokens: 1024 },
    messages: [user('Name a harbour and why ships like it.')],
  });
  const [, , ...rest] = await readAll(source, reasoning, text, usage, receipt, finish);
  account(...rest);
});

await part('Images: a picture that grows sharp', async () => {
  const source = client.images({
    model: RX_LLM_IMAGE_MODEL ?? model,
    prompt: 'A lighthouse',
    size: '512x512',
    partial_images: 3,
    stream: true,
  });
  const size = ({ b64 = '' }) => `${Math.round((b64.length * 3) / 4 / 1024)} KiB`;
  const [, , total] = await readAll(
    source,
    (s) =>
      s.pipe(
        partialImages(),
        tap((image) => line(`partial ${image.partialIndex}  ${size(image)}`)),
      ),
    (s) =>
      s.pipe(
        finalImages(),
        tap((image) => write(`final      ${size(image)} ${image.mediaType ?? ''} ${image.size ?? ''}`)),
      ),
    usage,
  );
  account(total);
});

if (gateway) {
  await part('A failure before the first token, retried', async () => {
    gateway.script('status=503; retryAfterMs=300', 'error=0');
    const source = client
      .chatCompletions({ model, messages: [user('Say hello once the storm is over.')], max_tokens: 40 })
      .pipe(
        retryBeforeFirstToken({
          onRetry: ({ error, delayMs }) => line(dim(`retrying in ${Math.round(delayMs)} ms: ${error.message}`)),
        }),
      );
    const [, ...rest] = await readAll(source, text, usage, receipt, finish);
    account(...rest);
    const tries = gateway.journal.slice(-3);
    const keys = new Set(tries.map((entry) => entry.idempotencyKey));
    line(
      dim(
        `the gateway saw ${tries.length} tries (${tries.map((entry) => entry.status).join(', ')}) under ${keys.size} idempotency key`,
      ),
    );
  });
}

await part('An abort: unsubscribing ends the request', async () => {
  const source = client.chatCompletions({ model, messages: [user('Count the waves, all of them.')], max_tokens: 400 });
  await lastValueFrom(source.pipe(textDeltas(), take(12), print()), { defaultValue: '' });
  line(dim('\n(left after twelve pieces)'));
  if (!gateway) return;
  await gateway.idle();
  const { tokensDelivered, tokensPlanned, outcome, billed } = gateway.journal.at(-1);
  line(
    dim(
      `the gateway saw it ${outcome} after ${tokensDelivered} of ${tokensPlanned} tokens, and billed $${billed?.costUsd ?? billed?.cost_usd ?? 0}`,
    ),
  );
});

line(`\n${bold('── Summary')}`);
for (const { title, outcome, ms } of summary) {
  const mark = outcome === 'complete' ? green('✓') : red('✗');
  line(`${mark} ${title.padEnd(48)} ${outcome === 'complete' ? '' : `${outcome} `}${(ms / 1000).toFixed(1)} s`);
}
await gateway?.close();
process.exitCode = summary.some(({ outcome }) => outcome !== 'complete') ? 1 : 0;
