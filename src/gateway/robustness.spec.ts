import fc from 'fast-check';
import { startGateway, type Gateway } from './index.js';
import type { Json } from './json.js';
import { call, chat, image, message, respond } from '../spec/support/gateway-client.js';

let gateway: Gateway;
beforeAll(async () => void (gateway = await startGateway()));
afterAll(() => gateway.close());

const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
const BODIES: Record<string, Json> = {
  '/v1/chat/completions': chat('Hi', {
    tools,
    tool_choice: 'auto',
    stop: ['x'],
    n: 1,
    response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    reasoning: { effort: 'low' },
    stream_options: { include_usage: true },
  }),
  '/v1/responses': respond('Hi', {
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
    tools: [{ type: 'function', name: 'f', parameters: {} }],
    text: { format: { type: 'text' } },
    reasoning: { effort: 'low', summary: 'auto' },
  }),
  '/v1/messages': message('Hi', {
    system: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }],
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    tool_choice: { type: 'auto' },
    output_config: { format: { type: 'json_schema', schema: {} } },
  }),
  '/v1/images': image('Hi', { size: '8x8', n: 1, quality: 'low', partial_images: 1 }),
};

/** The value with what is at one of its places replaced. */
function damaged(value: unknown, path: readonly number[], by: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return by;
  const keys = Object.keys(value);
  const key = keys[step % keys.length];
  if (key === undefined) return by;
  const part = damaged((value as Json)[key], rest, by);
  return Array.isArray(value)
    ? value.map((one: unknown, i) => (String(i) === key ? part : one))
    : { ...value, [key]: part };
}

const anything = fc.oneof(
  fc.jsonValue({ depthSize: 'small' }),
  fc.constantFrom(-1, 0, 1e99, '', '__proto__', [], {}, [null], [[]], { type: 5 }),
);

describe.each(Object.entries(BODIES))('%s', (path, body) => {
  it('answers or refuses what it does not expect, and never fails itself', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
        anything,
        fc.boolean(),
        async (where, by, b) => {
          const headers = { 'x-gateway-dialect': b ? 'b' : 'a' };
          const reply = await call(gateway.url, path, { body: damaged(body, where, by), headers });
          expect([200, 400]).toContain(reply.status);
          expect(reply.error).toBeUndefined();
          expect(gateway.journal.at(-1)?.outcome).toBe(reply.status === 200 ? 'completed' : 'refused');
        },
      ),
      { numRuns: path === '/v1/images' ? 60 : 150 }, // a picture is work
    );
  }, 30_000);
});
