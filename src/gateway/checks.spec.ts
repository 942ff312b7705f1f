import { startGateway, type Gateway } from './index.js';
import type { Json } from './json.js';
import { at, call, chat, image, message, respond } from '../spec/support/gateway-client.js';

let gateway: Gateway;
beforeAll(async () => void (gateway = await startGateway({ maxBodyBytes: 20_000 })));
afterAll(() => gateway.close());

const json = (text: string) => JSON.parse(text) as Json;
const PATHS = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/images'] as const;

describe('a request without a key', () => {
  it.each(PATHS)('is refused at %s', async (path) => {
    const reply = await call(gateway.url, path, { body: {}, headers: { authorization: '' } });
    expect(reply.status).toBe(401);
    expect(at(json(reply.text), 'error', 'message')).toMatch(/API key/);
  });

  it('is let in with the key in x-api-key or api-key', async () => {
    for (const name of ['x-api-key', 'api-key']) {
      const reply = await call(gateway.url, '/v1/chat/completions', {
        body: chat('Hi'),
        headers: { authorization: '', [name]: 'k' },
      });
      expect(reply.status).toBe(200);
    }
  });

  it('is refused with a key that is not on the list', async () => {
    const strict = await startGateway({ apiKeys: ['right'] });
    const wrong = await call(strict.url, '/v1/chat/completions', {
      body: chat('Hi'),
      headers: { authorization: 'Bearer wrong' },
    });
    const right = await call(strict.url, '/v1/chat/completions', {
      body: chat('Hi'),
      headers: { authorization: 'Bearer right' },
    });
    await strict.close();
    expect([wrong.status, right.status]).toEqual([401, 200]);
    expect(wrong.text).not.toContain('Bearer');
  });
});

describe('a bad request', () => {
  const tool = (name: string) => ({ type: 'function', function: { name } });
  const orphan = { role: 'tool', tool_call_id: 'call_x', content: '1' };
  it.each<[string, string, unknown, RegExp]>([
    ['no JSON', PATHS[0], '{"model":', /not JSON/],
    ['no object', PATHS[0], '[]', /JSON object/],
    ['no model', PATHS[0], chat('Hi', { model: undefined }), /'model'/],
    ['no messages', PATHS[0], chat('Hi', { messages: [] }), /'messages'/],
    [
      'a role that does not exist',
      PATHS[0],
      chat('Hi', { messages: [{ role: 'robot', content: '' }] }),
      /'messages\[0\]\.role'/,
    ],
    [
      'a tool result without its call',
      PATHS[0],
      chat('Hi', { messages: [{ role: 'user', content: 'Hi' }, orphan] }),
      /tool_call_id/,
    ],
    ['a temperature out of range', PATHS[0], chat('Hi', { temperature: 9 }), /'temperature'/],
    ['no tokens', PATHS[0], chat('Hi', { max_tokens: 0 }), /'max_tokens'/],
    ['a tool without a name', PATHS[0], chat('Hi', { tools: [tool('')] }), /'tools\[0\]'/],
    [
      'a choice of an unknown tool',
      PATHS[0],
      chat('Hi', { tools: [tool('a')], tool_choice: tool('b') }),
      /'tool_choice'/,
    ],
    ['a stream that is no boolean', PATHS[0], chat('Hi', { stream: 'yes' }), /'stream'/],
    ['a schema that is missing', PATHS[0], chat('Hi', { response_format: { type: 'json_schema' } }), /schema/],
    ['no input', PATHS[1], { model: 'm' }, /'input'/],
    ['an item that does not exist', PATHS[1], { model: 'm', input: [{ type: 'item_reference', id: 'x' }] }, /'x'/],
    ['a response that does not exist', PATHS[1], respond('Hi', { previous_response_id: 'resp_x' }), /resp_x/],
    [
      'an output without its call',
      PATHS[1],
      { model: 'm', input: [{ type: 'function_call_output', call_id: 'q', output: '' }] },
      /call_id 'q'/,
    ],
    ['no max_tokens', PATHS[2], message('Hi', { max_tokens: undefined }), /max_tokens: Field required/],
    [
      'an assistant who speaks first',
      PATHS[2],
      message('Hi', { messages: [{ role: 'assistant', content: 'Hi' }] }),
      /first message/,
    ],
    ['too small a budget', PATHS[2], message('Hi', { thinking: { type: 'enabled', budget_tokens: 5 } }), /1024/],
    ['a tool without a schema', PATHS[2], message('Hi', { tools: [{ name: 'a' }] }), /input_schema/],
    ['no prompt', PATHS[3], image('', {}), /'prompt'/],
    ['a size that is none', PATHS[3], image('A cat', { size: 'big' }), /'size'/],
    ['a size beyond all bounds', PATHS[3], image('A cat', { size: '90000x90000' }), /'size'/],
    ['too many partial images', PATHS[3], image('A cat', { partial_images: 9 }), /'partial_images'/],
  ])('is refused for %s', async (_, path, body, reason) => {
    const reply = await call(gateway.url, path, { body });
    expect(reply.status).toBe(400);
    expect(at(json(reply.text), 'error', 'message')).toMatch(reason);
  });

  it('is refused in the words of each endpoint and dialect', async () => {
    const body = { model: '' };
    const inA = await call(gateway.url, PATHS[0], { body });
    expect(json(inA.text)).toEqual({
      error: {
        code: 400,
        message: expect.any(String),
        metadata: { error_type: 'invalid_request', provider_code: 'invalid_value', param: 'model' },
      },
    });
    const inB = await call(gateway.url, PATHS[1], { body, headers: { 'x-gateway-dialect': 'b' } });
    expect(json(inB.text)).toEqual({
      error: {
        type: 'invalid_request_error',
        code: 'invalid_value',
        message: expect.any(String),
        param: 'model',
        request_id: inB.headers['x-request-id'],
      },
    });
    const onMessages = await call(gateway.url, PATHS[2], { body });
    expect(json(onMessages.text)).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.any(String) },
      request_id: onMessages.headers['request-id'],
    });
  });

  it('is refused when a fault or pace is not understood', async () => {
    for (const headers of [{ 'x-gateway-fault': 'explode' }, { 'x-gateway-pace': 'warp=9' }] as Record<
      string,
      string
    >[]) {
      const reply = await call(gateway.url, PATHS[0], { body: chat('Hi'), headers });
      expect(reply.status).toBe(400);
      expect(reply.text).toMatch(/Known: /);
    }
  });
});

describe('a request to the wrong place', () => {
  it.each([
    ['POST', '/v1/completions', 404],
    ['POST', '/elsewhere', 404],
    ['POST', '//', 405],
    ['POST', '/v1/constructor', 404],
    ['GET', '/v1/models/%', 404],
    ['GET', '/v1/chat/completions', 405],
    ['DELETE', '/v1/models', 405],
  ])('%s %s gets %d', async (method, path, status) => {
    const reply = await call(gateway.url, path, { method });
    expect(reply.status).toBe(status);
    expect(json(reply.text)).toHaveProperty('error');
    if (status === 405) expect(reply.headers['allow']).toContain('OPTIONS');
  });

  it('gets 404 for a model that does not exist, where only some do', async () => {
    const strict = await startGateway({ models: ['only'] });
    const reply = await call(strict.url, PATHS[0], { body: chat('Hi') });
    const listed = await call(strict.url, '/v1/models', { method: 'GET' });
    await strict.close();
    expect(reply.status).toBe(404);
    expect(reply.text).toContain('vendor/leaf-1');
    expect((json(listed.text)['data'] as Json[]).map(({ id }) => id)).toEqual(['only']);
  });
});

describe('a body that is too large', () => {
  const huge = chat('x'.repeat(30_000));
  it('gets 413 by its announced length', async () => {
    const reply = await call(gateway.url, PATHS[0], { body: huge });
    expect(reply.status).toBe(413);
    expect(at(json(reply.text), 'error', 'message')).toMatch(/20000 bytes/);
  });

  it('gets 413 while it still comes', async () => {
    const reply = await call(gateway.url, PATHS[2], { body: huge, headers: { 'transfer-encoding': 'chunked' } });
    expect(reply.status).toBe(413);
    expect(at(json(reply.text), 'error', 'type')).toBe('request_too_large');
  });
});

describe('a browser', () => {
  it('may send any header it asks for', async () => {
    const wanted = 'authorization, content-type, idempotency-key, x-api-key, anthropic-version, x-gateway-fault';
    const reply = await call(gateway.url, PATHS[0], {
      method: 'OPTIONS',
      headers: {
        origin: 'http://localhost:4200',
        'access-control-request-method': 'POST',
        'access-control-request-headers': wanted,
      },
    });
    expect(reply.status).toBe(204);
    expect(reply.headers['access-control-allow-headers']).toBe(wanted);
    expect(reply.headers['access-control-allow-methods']).toContain('POST');
    expect(reply.headers['access-control-allow-origin']).toBe('http://localhost:4200');
  });

  it('may read answers and errors, and the headers that matter', async () => {
    for (const headers of [{}, { authorization: '' }]) {
      const reply = await call(gateway.url, PATHS[0], {
        body: chat('Hi'),
        headers: { origin: 'http://localhost:4200', ...headers },
      });
      expect(reply.headers['access-control-allow-origin']).toBe('http://localhost:4200');
      expect(reply.headers['access-control-expose-headers']).toMatch(/retry-after/);
    }
  });
});

describe('options that make no sense', () => {
  it.each([
    [{ dialect: 'c' as never }, /dialect/],
    [{ fault: 'explode' }, /Unknown fault/],
    [{ script: ['stall; after=soon'] }, /must be a number/],
    [{ fault: { kind: 'status', status: 200 } as const }, /from 300 to 599/],
    [{ fault: 'cut=headers' }, /before the headers/],
    [{ pace: { tokensPerSecond: 0 } }, /tokensPerSecond/],
  ])('%j are refused', async (options, reason) => {
    await expect(startGateway(options)).rejects.toThrow(reason);
  });

  it('so is a port that is taken', async () => {
    await expect(startGateway({ port: gateway.port })).rejects.toThrow('EADDRINUSE');
  });
});
