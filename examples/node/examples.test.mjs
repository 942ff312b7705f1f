// Runs each program as its user would: `node --test examples/node/`, after `npm run build`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startGateway } from 'rx-llm/gateway';

let gateway;
let earlier;
before(async () => (gateway = await startGateway({ pace: { tokensPerSecond: 400 } })));
beforeEach(() => (earlier = gateway.journal.length));
after(() => gateway.close());

/** What the gateway was asked since the test began. */
const asked = () => gateway.journal.slice(earlier);

/** Starts a program of this folder, with our gateway, or with none named. */
function start(name, args = [], env = { RX_LLM_BASE_URL: gateway.url }) {
  const child = spawn(process.execPath, [fileURLToPath(new URL(name, import.meta.url)), ...args], {
    env: { ...process.env, RX_LLM_BASE_URL: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const program = { child, stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'])
    child[stream].setEncoding('utf8').on('data', (text) => (program[stream] += text));
  program.ended = once(child, 'close').then(([code]) => code);
  return program;
}

/** Waits until a program has written something that matches. */
async function written({ child, ...program }, pattern) {
  let text = program.stdout;
  while (!pattern.test(text)) text += (await once(child.stdout, 'data'))[0];
  return pattern.exec(text);
}

describe('stdout.mjs', () => {
  it('writes the text to stdout and the account to stderr', async () => {
    const program = start('stdout.mjs', ['Say "Grüße aus 京都"']);

    assert.equal(await program.ended, 0);
    assert.equal(program.stdout, 'Grüße aus 京都\n');
    assert.match(program.stderr, /^\d+ tokens in, \d+ out/);
  });

  it('brings its own gateway where none is named', async () => {
    const program = start('stdout.mjs', ['Say "hello"'], {});

    assert.equal(await program.ended, 0);
    assert.equal(program.stdout, 'hello\n');
    assert.equal(asked().length, 0);
  });

  it('asks again when the gateway is busy, and says so', async () => {
    gateway.script('503; retry-after-ms=10');
    const program = start('stdout.mjs', ['Say "hello"']);

    assert.equal(await program.ended, 0);
    assert.equal(program.stdout, 'hello\n');
    assert.match(program.stderr, /answered 503.*Again in 10 ms/);
  });

  it('keeps what came before a failure, and ends with 1', async () => {
    gateway.script('reset=5');
    const program = start('stdout.mjs', ['Count to 30']);

    assert.equal(await program.ended, 1);
    assert.match(program.stdout, /^1.*3/s);
    assert.match(program.stderr, /broke the connection/);
  });

  it('ends the request on Ctrl-C', async () => {
    const program = start('stdout.mjs', ['Count to 900']);
    await written(program, /\d+/);
    program.child.kill('SIGINT');
    assert.equal(await program.ended, 0);
    await gateway.idle();

    const [{ outcome, tokensDelivered, tokensPlanned }] = asked();
    assert.equal(outcome, 'hung-up');
    assert(tokensDelivered < tokensPlanned / 2);
  });

  it('ends the request when nobody reads its output any more', async () => {
    const program = start('stdout.mjs', ['Count to 900']);
    await written(program, /\d+/);
    program.child.stdout.destroy();
    await program.ended;
    await gateway.idle();

    assert.equal(asked()[0].outcome, 'hung-up');
  });
});

describe('relay.mjs', () => {
  const withRelay = (body) => async () => {
    const program = start('relay.mjs', [], { RX_LLM_BASE_URL: gateway.url, PORT: '0' });
    try {
      const [url] = await written(program, /http:\S+/);
      await body((path, request, init) =>
        fetch(url + path, {
          method: 'POST',
          body: typeof request === 'string' ? request : JSON.stringify(request),
          ...init,
        }),
      );
    } finally {
      program.child.kill('SIGINT');
      assert.equal(await program.ended, 0);
    }
  };
  const input = { model: 'm', input: 'Say "hello"', prompt: 'A fox', size: '64x64', max_tokens: 99 };
  const request = { ...input, messages: [{ role: 'user', content: input.input }] };

  it(
    'passes all four endpoints on',
    withRelay(async (post) => {
      for (const [path, end] of [
        ['/chat/completions', 'data: [DONE]'],
        ['/responses', 'event: response.completed'],
        ['/messages', 'event: message_stop'],
        ['/images', 'data: [DONE]'],
      ]) {
        const response = await post(path, request);
        assert.equal(response.status, 200);
        assert.equal(response.headers.get('content-type'), 'text/event-stream');
        assert((await response.text()).trim().split('\n\n').at(-1).startsWith(end), path);
      }
      assert.deepEqual(
        asked().map(({ outcome }) => outcome),
        ['completed', 'completed', 'completed', 'completed'],
      );
    }),
  );

  it(
    'answers a failure before the first token with its status, and one of the request with 400 or 404',
    withRelay(async (post) => {
      gateway.script('429; retry-after=3');
      const refused = await post('/responses', request);
      assert.equal(refused.status, 429);
      assert.equal(refused.headers.get('retry-after'), '3');
      assert.match(await refused.text(), /^\{"error":\{"message":"/);

      assert.equal((await post('/responses', '{"model":')).status, 400);
      assert.equal((await post('/responses', 'null')).status, 400);
      assert.equal((await post('/models', request)).status, 404);
      assert.equal(asked().length, 1);
    }),
  );

  it(
    'ends the request to the gateway when its reader leaves',
    withRelay(async (post) => {
      const controller = new AbortController();
      const response = await post('/responses', { ...input, input: 'Count to 900' }, { signal: controller.signal });
      await response.body.getReader().read();
      controller.abort();
      await gateway.idle();

      const [{ outcome, tokensDelivered, billed }] = asked();
      assert.equal(outcome, 'hung-up');
      assert.equal(billed.outputTokens, tokensDelivered);
    }),
  );
});

describe('vendor-sdk.mjs', () => {
  it('reads tool calls of three endpoints by the same operators', async () => {
    const program = start('vendor-sdk.mjs', ['What is the weather in Lisbon?']);

    assert.equal(await program.ended, 0, program.stderr);
    assert.equal(
      program.stdout,
      ['Chat Completions', 'Responses', 'Messages'].map((name) => `${name}: get_weather({"city":"Lisbon"})\n`).join(''),
    );
    assert.match(asked()[0].headers['user-agent'], /OpenAI/);
    assert.match(asked()[2].headers['user-agent'], /Anthropic/);
  });

  it('retries an SDK’s failure before the first token', async () => {
    gateway.script('503; retry-after-ms=10');
    const program = start('vendor-sdk.mjs', ['Weather in Lisbon, please']);

    assert.equal(await program.ended, 0, program.stderr);
    assert.deepEqual(
      asked().map(({ status }) => status),
      [503, 200, 200, 200],
    );
  });

  it('aborts the SDK’s request on Ctrl-C', async () => {
    gateway.script('stall=0');
    const program = start('vendor-sdk.mjs');
    await written(program, /Chat/);
    while (asked().length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    program.child.kill('SIGINT');

    assert.equal(await program.ended, 0);
    await gateway.idle();
    assert.equal(asked()[0].outcome, 'hung-up');
  });
});
