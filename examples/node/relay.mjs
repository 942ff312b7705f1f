// A server that passes a gateway's streams on, with Node's own http and nothing else:
//
//   node examples/node/relay.mjs
//   curl -N http://localhost:3000/v1/responses -d '{"model":"auto","input":"Why is the sky blue?"}'
//
// A reader that leaves, or falls behind by a megabyte, ends the request to the gateway. A failure before the first token
// is an HTTP status, a later one a frame of the stream. Whoever gets here spends your money: let in whom you know.
import { createServer } from 'node:http';
import { createLlmClient, pipeServerSentEvents, toServerSentEvents } from 'rx-llm';
import { findGateway } from './gateway.mjs';

const { baseUrl, apiKey, close } = await findGateway();
const llm = createLlmClient({ baseUrl, apiKey });

const endpoints = new Map([
  ['/v1/chat/completions', (request) => llm.chatCompletions(request)],
  ['/v1/responses', (request) => llm.responses(request)],
  ['/v1/messages', (request) => llm.messages(request)],
  ['/v1/images', (request) => llm.images(request)],
]);

const server = createServer(async (request, response) => {
  const open = request.method === 'POST' && endpoints.get(request.url);
  if (!open) return refuse(response, 404, 'There is nothing here');
  let asked;
  try {
    asked = await readJson(request);
  } catch (error) {
    return refuse(response, 400, error.message);
  }
  const frames = open(asked).pipe(toServerSentEvents({ keepAliveMs: 15_000 }));
  pipeServerSentEvents(frames, response, { maxBufferedBytes: 1024 * 1024 });
});

async function readJson(request, limit = 20_000_000) {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) {
    text += piece;
    if (text.length > limit) throw new Error('The body is too long');
  }
  const value = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new Error('The body must be a JSON object');
  return value;
}

function refuse(response, status, message) {
  // What was not read of the body must not be taken for the next request.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ error: { message } }));
}

server.listen(Number(process.env.PORT ?? 3000), () => {
  console.log(`http://localhost:${server.address().port}/v1`);
});

process.once('SIGINT', () => {
  server.close(close);
  server.closeAllConnections();
});
