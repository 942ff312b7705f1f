import { parseFault, startGateway, type Fault, type Gateway } from './index.js';
import type { Json } from './json.js';
import {
  at,
  call,
  chat,
  eventsOf,
  image,
  jsonOf,
  message,
  respond,
  type Reply,
} from '../spec/support/gateway-client.js';

let gateway: Gateway;
beforeAll(async () => void (gateway = await startGateway()));
afterAll(() => gateway.close());

const TEXT = 'Say "one two three four five six"';
const BODIES = {
  '/v1/chat/completions': chat(TEXT),
  '/v1/responses': respond(TEXT),
  '/v1/messages': message(TEXT),
  '/v1/images': image('A teapot', { partial_images: 2 }),
};
type Path = keyof typeof BODIES;
const ALL = Object.keys(BODIES) as Path[];
const struck = (
  path: Path,
  fault: string,
  dialect: 'a' | 'b' = 'a',
  beside: Partial<Parameters<typeof call>[2]> = {},
): Promise<Reply> =>
  call(gateway.url, path, {
    body: BODIES[path],
    headers: { 'x-gateway-fault': fault, 'x-gateway-dialect': dialect },
    ...beside,
  });
const last = (reply: Reply) => jsonOf(reply.text).at(-1);

describe('a status', () => {
  it('comes with what says when to try again', async () => {
    const seconds = await struck('/v1/chat/completions', '429; retry-after=2; should-retry=false');
    expect(seconds.status).toBe(429);
    expect(seconds.headers).toMatchObject({ 'retry-after': '2', 'x-should-retry': 'false' });
    const ms = await struck('/v1/responses', 'status=503; retry-after-ms=250');
    expect([ms.status, ms.headers['retry-after-ms']]).toEqual([503, '250']);
    const date = await struck('/v1/messages', '529; retry-after-date=60');
    const ahead = Date.parse(String(date.headers['retry-after'])) - Date.parse(String(date.headers['date']));
    expect(ahead).toBeGreaterThan(57_000);
    expect(ahead).toBeLessThan(62_000);
  });

  it('is worded as each endpoint words it', async () => {
    expect(JSON.parse((await struck('/v1/chat/completions', '402')).text)).toEqual({
      error: { code: 402, message: 'Insufficient credits', metadata: { error_type: 'payment_required' } },
    });
    expect(JSON.parse((await struck('/v1/responses', '429', 'b')).text)).toMatchObject({
      error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
    });
    expect(JSON.parse((await struck('/v1/messages', '529')).text)).toMatchObject({
      type: 'error',
      error: { type: 'overloaded_error' },
    });
    const spent = await struck(
      '/v1/messages',
      '429; code=enforced_spend_limit_reached; message=Monthly spend limit reached',
    );
    expect(JSON.parse(spent.text)).toMatchObject({
      error: {
        type: 'rate_limit_error',
        message: 'Monthly spend limit reached',
        details: { error_code: 'enforced_spend_limit_reached' },
      },
    });
  });

  it('strikes only the first tries of one key', async () => {
    const tries = [];
    for (let i = 0; i < 3; i++) {
      const headers = { 'x-gateway-fault': '503; times=2', 'idempotency-key': 'one' };
      tries.push(
        (await call(gateway.url, '/v1/chat/completions', { body: BODIES['/v1/chat/completions'], headers })).status,
      );
    }
    expect(tries).toEqual([503, 503, 200]);
    expect(gateway.journal.slice(-3).map(({ attempt, idempotencyKey }) => [attempt, idempotencyKey])).toEqual([
      [1, 'one'],
      [2, 'one'],
      [3, 'one'],
    ]);
  });
});

describe('an error in the stream', () => {
  it('is a chunk with finish reason error on Chat Completions of A', async () => {
    const reply = await struck('/v1/chat/completions', 'error=2');
    expect(last(reply)).toMatchObject({
      error: { code: 502, message: 'The provider disconnected', metadata: { error_type: 'provider_unavailable' } },
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    });
    expect(eventsOf(reply.text).at(-1)?.data).toBe('[DONE]');
    expect(jsonOf(reply.text)).toHaveLength(4);
  });

  it('is partial_stream after output and stream_error before it on Chat Completions of B', async () => {
    expect(at(last(await struck('/v1/chat/completions', 'error=2', 'b')), 'error', 'code')).toBe('partial_stream');
    expect(gateway.journal.at(-1)?.billed?.outputTokens).toBe(2);
    expect(at(last(await struck('/v1/chat/completions', 'error', 'b')), 'error', 'code')).toBe('stream_error');
    expect(gateway.journal.at(-1)?.billed).toBeUndefined();
  });

  it('is an error event on Responses: flat in A, nested in B', async () => {
    expect(last(await struck('/v1/responses', 'error=1'))).toMatchObject({
      type: 'error',
      code: 'provider_unavailable',
      message: 'The provider disconnected',
      param: null,
    });
    const nested = await struck('/v1/responses', 'error=1', 'b');
    expect(last(nested)).toMatchObject({ type: 'error', error: { type: 'upstream_error', code: 'partial_stream' } });
    expect(nested.text).not.toContain('response.completed');
  });

  it('is response.failed when asked for, with what was used so far', async () => {
    const reply = await struck('/v1/responses', 'failed=3; status=429');
    expect(last(reply)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'rate_limit_exceeded' }, usage: { output_tokens: 3 } },
    });
  });

  it('is an error event on Messages and Images', async () => {
    const messages = await struck('/v1/messages', 'error=1; status=529');
    expect(last(messages)).toEqual({
      type: 'error',
      error: { details: null, type: 'overloaded_error', message: 'Overloaded' },
      request_id: messages.headers['request-id'],
    });
    const images = await struck('/v1/images', 'error=100; code=moderation_blocked');
    expect(eventsOf(images.text).map(({ name, data }) => name ?? data)).toEqual([
      'image_generation.partial_image',
      'error',
      '[DONE]',
    ]);
    expect(last(images)).toMatchObject({ error: { code: 'moderation_blocked' } });
  });

  it.each(ALL)('before the first token leaves none on %s', async (path) => {
    await struck(path, 'error');
    expect(gateway.journal.at(-1)).toMatchObject({
      tokensDelivered: 0,
      outcome: 'broken',
      status: 200,
      billed: undefined,
    });
  });

  it('is a status for a request that does not stream', async () => {
    const body = { ...BODIES['/v1/chat/completions'], stream: false };
    expect((await struck('/v1/chat/completions', 'error; status=503', 'a', { body })).status).toBe(503);
  });
});

describe('an answer that ends early', () => {
  it('says so', async () => {
    const chatEnd = jsonOf((await struck('/v1/chat/completions', 'incomplete=2', 'b')).text).at(-1);
    expect(at(chatEnd, 'choices', 0, 'finish_reason')).toBe('length');
    expect(at(chatEnd, 'usage', 'completion_tokens')).toBe(2);
    expect(last(await struck('/v1/responses', 'incomplete; reason=content_filter'))).toMatchObject({
      type: 'response.incomplete',
      response: { incomplete_details: { reason: 'content_filter' } },
    });
    expect(jsonOf((await struck('/v1/messages', 'incomplete=2')).text).at(-2)).toMatchObject({
      delta: { stop_reason: 'max_tokens' },
      usage: { output_tokens: 2 },
    });
  });
});

describe('a broken connection', () => {
  const terminators = /\[DONE\]|response\.completed|message_stop/;

  it.each(ALL)('is cut without a terminator on %s', async (path) => {
    const reply = await struck(path, 'cut=1');
    expect(reply.error).toBeUndefined();
    expect(reply.text).not.toMatch(terminators);
    expect(jsonOf(reply.text).length).toBeGreaterThan(0);
    expect(gateway.journal.at(-1)?.outcome).toBe('broken');
  });

  it('is cut inside a frame', async () => {
    const reply = await struck('/v1/chat/completions', 'cut=3; in-frame');
    const tail = reply.text.slice(reply.text.lastIndexOf('data: ') + 6);
    expect(() => JSON.parse(tail) as unknown).toThrow(SyntaxError);
  });

  it.each(ALL)('is reset on %s, after what was sent', async (path) => {
    const reply = await struck(path, 'reset=1');
    expect(reply.error).toBe('ECONNRESET');
    expect(jsonOf(reply.text).length).toBeGreaterThan(0);
    await gateway.idle();
    expect(gateway.journal.at(-1)).toMatchObject({ outcome: 'broken', hungUpMs: undefined });
  });

  it('is reset before the headers', async () => {
    const reply = await struck('/v1/chat/completions', 'reset=headers');
    expect(reply).toMatchObject({ status: 0, error: 'ECONNRESET', text: '' });
  });
});

describe('a stall', () => {
  it('is silent after so many tokens, until the client leaves', async () => {
    const started = Date.now();
    const reply = await Promise.race([struck('/v1/chat/completions', 'stall=2'), silence(150)]);
    expect(reply).toBe('silence');
    expect(Date.now() - started).toBeGreaterThanOrEqual(140);
    expect(gateway.journal.at(-1)).toMatchObject({ outcome: 'open', tokensDelivered: 2 });
  });

  it('keeps comments coming', async () => {
    const reply = await struck('/v1/chat/completions', 'stall=1; keep-alive-ms=5', 'a', {
      leave: (text) => text.split(': GATEWAY').length > 4,
    });
    expect(jsonOf(reply.text)).toHaveLength(2);
    await settled(() => gateway.journal.at(-1)?.outcome === 'hung-up');
    expect(gateway.journal.at(-1)?.hungUpMs).toBeGreaterThanOrEqual(10);
  });

  it('strikes before the headers', async () => {
    expect(await Promise.race([struck('/v1/responses', 'stall=headers'), silence(100)])).toBe('silence');
    expect(gateway.journal.at(-1)?.status).toBeUndefined();
  });
});

describe('what is no proper stream', () => {
  it.each(ALL)('is a malformed frame among good ones on %s', async (path) => {
    const reply = await struck(path, 'malformed=1');
    const bad = eventsOf(reply.text).filter(({ data }) => data !== '[DONE]' && !isJson(data));
    expect(bad).toHaveLength(1);
    expect(reply.text).toMatch(/\[DONE\]|response\.completed|message_stop/);
  });

  it('is a JSON error, the whole answer as JSON, or HTML, under 200', async () => {
    const error = await struck('/v1/chat/completions', 'json');
    expect([error.status, error.headers['content-type']]).toEqual([200, 'application/json']);
    expect(JSON.parse(error.text)).toHaveProperty('error');
    const mislabelled = await struck('/v1/chat/completions', 'json; content-type=text/event-stream');
    expect(mislabelled.headers['content-type']).toBe('text/event-stream');
    const answer = JSON.parse((await struck('/v1/chat/completions', 'json; answer')).text) as Json;
    expect(at(answer, 'choices', 0, 'message', 'content')).toBe('one two three four five six');
    const html = await struck('/v1/messages', 'html');
    expect([html.status, html.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  });

  it.each(ALL)('is one huge frame on %s', async (path) => {
    const reply = await struck(path, 'huge=300000');
    const sizes = eventsOf(reply.text).map(({ data }) => data.length);
    expect(Math.max(...sizes)).toBeGreaterThan(300_000);
    expect(gateway.journal.at(-1)?.outcome).toBe('completed');
  });

  it.each([
    ['/v1/chat/completions', '"finish_reason":"stop"', /\[DONE\]/],
    ['/v1/responses', 'response.output_item.done', /response\.completed/],
    ['/v1/messages', '"stop_reason":"end_turn"', /message_stop/],
    ['/v1/images', 'image_generation.completed', /\[DONE\]/],
  ] as const)('lacks its terminator on %s', async (path, before, terminator) => {
    const reply = await struck(path, 'no-done');
    expect(reply.text).toContain(before);
    expect(reply.text).not.toMatch(terminator);
  });

  it('never closes after [DONE]', async () => {
    let done = 0;
    const reply = struck('/v1/chat/completions', 'never-close', 'a', {
      leave: (text) => {
        if (!text.includes('[DONE]')) return false;
        done = Date.now();
        return false;
      },
    });
    expect(await Promise.race([reply, silence(150)])).toBe('silence');
    expect(done).toBeGreaterThan(0);
    expect(gateway.journal.at(-1)?.outcome).toBe('open');
  });

  it('numbers tool calls wrongly', async () => {
    const body = chat('What is the weather in Paris and in Oslo?', {
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: {} } }],
    });
    const indexes = async (fault: string) =>
      jsonOf((await struck('/v1/chat/completions', fault, 'a', { body })).text)
        .flatMap((chunk) => (at(chunk, 'choices', 0, 'delta', 'tool_calls') ?? []) as Json[])
        .map((call) => call['index']);
    expect(new Set(await indexes('tool-indexes=zero'))).toEqual(new Set([0]));
    expect(new Set(await indexes('tool-indexes=missing'))).toEqual(new Set([undefined]));
    expect(new Set(await indexes('none'))).toEqual(new Set([0, 1]));
  });
});

describe('faults', () => {
  it('come from the header first, then the script in order, then the option', async () => {
    const own = await startGateway({ fault: '500', script: ['429', null] });
    const status = async (headers: Record<string, string> = {}) =>
      (await call(own.url, '/v1/chat/completions', { body: chat('Hi'), headers })).status;
    const seen = [
      await status({ 'x-gateway-fault': '418' }),
      await status(),
      await status(),
      await status(),
      await status({ 'x-gateway-fault': 'none' }),
    ];
    own.script('503');
    seen.push(await status(), await status());
    await own.close();
    expect(seen).toEqual([418, 429, 200, 500, 200, 503, 500]);
  });

  it.each<[string, Fault]>([
    ['429', { kind: 'status', status: 429 }],
    ['status=503;retry-after=1.5', { kind: 'status', status: 503, retryAfter: 1.5 }],
    ['status; status=500; message=a=b', { kind: 'status', status: 500, message: 'a=b' }],
    ['wrong-tool-indexes=missing', { kind: 'tool-indexes', as: 'missing' }],
    ['huge-frame=10', { kind: 'huge', bytes: 10 }],
    ['stall=3; keepAliveMs=10; times=1', { kind: 'stall', after: 3, keepAliveMs: 10, times: 1 }],
    ['reset=headers', { kind: 'reset', after: 'headers' }],
  ])('read %s', (words, fault) => {
    expect(parseFault(words)).toEqual(fault);
  });

  it.each([
    '',
    'explode',
    'status=99',
    'error; after=-1',
    'error; after=',
    'error; whatever=1',
    'html=3',
    'cut=headers',
    '__proto__',
  ])('do not read %j', (words) => {
    expect(() => parseFault(words)).toThrow(TypeError);
  });
});

const silence = (ms: number) => new Promise<'silence'>((resolve) => setTimeout(() => resolve('silence'), ms));

async function settled(until: () => boolean): Promise<void> {
  for (let i = 0; i < 200 && !until(); i++) await new Promise((resolve) => setTimeout(resolve, 5));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
