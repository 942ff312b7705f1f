// A gateway in few lines, apart from the library's own: byte streams written by hand.
import { createServer } from 'node:http';

const data = (...events) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const named = (...events) => events.map((event) => `event: ${event.type}\n${data(event)}`).join('');

const chunk = (delta, finish_reason = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
});
const response = (status, output = []) => ({ id: 'r1', object: 'response', created_at: 1, model: 'm', status, output });
const call = { type: 'function_call', id: 'f1', call_id: 'call_1', name: 'look', arguments: '' };

const bodies = {
  '/v1/chat/completions': [
    data(chunk({ role: 'assistant', content: '' }), chunk({ content: 'Grüß ' })),
    data(chunk({ content: 'dich 😀' }), chunk({}, 'stop')),
    data({ ...chunk({}), choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } }),
    'data: [DONE]\n\n',
  ],
  '/v1/responses': [
    named({ type: 'response.created', sequence_number: 0, response: response('in_progress') }),
    named(
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'message', id: 'm1', role: 'assistant', content: [] },
      },
      { type: 'response.output_text.delta', item_id: 'm1', output_index: 0, content_index: 0, delta: 'Hello' },
      { type: 'response.output_item.added', output_index: 1, item: call },
      { type: 'response.function_call_arguments.delta', item_id: 'f1', output_index: 1, delta: '{"a":1}' },
      { type: 'response.output_item.done', output_index: 1, item: { ...call, arguments: '{"a":1}' } },
    ),
    named({ type: 'response.completed', response: response('completed') }),
  ],
  '/v1/messages': [
    named({
      type: 'message_start',
      message: { id: 'm1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 3 } },
    }),
    named(
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Salut' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
      { type: 'message_stop' },
    ),
  ],
  '/v1/images': [
    named(
      { type: 'image_generation.partial_image', b64_json: 'AA==', partial_image_index: 0 },
      { type: 'image_generation.completed', b64_json: 'AAA=' },
    ),
    'data: [DONE]\n\n',
  ],
};

/** What the program prints when all is well. */
export const expected = JSON.stringify(['Grüß dich 😀', 'Hello', 'Salut', 3, 7, 1, 'Grüß ', 'HttpResponseError 404']);

export async function startServer() {
  const userAgents = [];
  const server = createServer(async (request, response) => {
    userAgents.push(request.headers['user-agent'] ?? 'none');
    request.resume();
    const body = bodies[request.url];
    if (request.method !== 'POST' || !body) return response.writeHead(404).end('{"error":{"message":"no such path"}}');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of body) {
      response.write(part);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    /** The user agents since the last call. */
    userAgents: () => new Set(userAgents.splice(0)),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
