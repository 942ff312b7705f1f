import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { firstValueFrom, lastValueFrom, toArray } from 'rxjs';
import { createLlmClient, finalImages, finalUsage, retryBeforeFirstToken, textDeltas } from 'rx-llm';
import { dataOf, sleep, texts, until, withRelay } from './support';

const user = (content: string) => ({ model: 'vendor/leaf-1', messages: [{ role: 'user' as const, content }] });
const CHAT = '/v1/chat/completions';

describe('a stream', () => {
  it(
    'is relayed with status 200, frame by frame, to its [DONE]',
    withRelay(async ({ post, ended }) => {
      const response = await post(CHAT, user('Say "Grüße aus 京都"'));
      const body = await response.text();

      assert.equal(response.status, 200);
      assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
      const frames = dataOf(body);
      assert.equal(frames.at(-1), '[DONE]');
      const text = frames.slice(0, -1).map((data) => JSON.parse(data).choices[0]?.delta.content ?? '');
      assert.equal(text.join(''), 'Grüße aus 京都');
      const entry = await ended();
      assert.equal(entry.outcome, 'completed');
      // The server's key, and not a browser's.
      assert.match(entry.headers.authorization ?? '', /\*\*\*rver$/);
    }),
  );

  it(
    'comes while the gateway still sends',
    withRelay(
      async ({ post, gateway }) => {
        const response = await post(CHAT, user('Count to 30'));
        let body = '';
        for await (const text of texts(response)) {
          body += text;
          if (body.includes('"content":')) break;
        }

        assert.equal(gateway.journal[0]?.outcome, 'open');
      },
      { pace: { tokensPerSecond: 20 } },
    ),
  );

  it(
    'of each endpoint is read by a client whose baseUrl is the relay',
    withRelay(async ({ url, gateway }) => {
      const llm = createLlmClient({ baseUrl: `${url}/v1`, apiKey: 'a-key-of-the-browser' });
      const input = 'Say "all of it"';
      const asked = [
        llm.chatCompletions(user(input)).pipe(textDeltas(), toArray()),
        llm.responses({ model: 'm', input }).pipe(textDeltas(), toArray()),
        llm.messages({ ...user(input), max_tokens: 100 }).pipe(textDeltas(), toArray()),
      ];
      for (const text$ of asked) assert.equal((await lastValueFrom(text$)).join(''), 'all of it');
      const image = await lastValueFrom(
        llm.images({ model: 'm', prompt: 'A lighthouse', size: '64x64', partial_images: 2 }).pipe(finalImages()),
      );

      assert.match(image.b64 ?? '', /^iVBOR/);
      assert.deepEqual(
        gateway.journal.map(({ endpoint, outcome }) => `${endpoint} ${outcome}`),
        ['chatCompletions completed', 'responses completed', 'messages completed', 'images completed'],
      );
    }),
  );

  it(
    'may be asked for by pages from elsewhere',
    withRelay(async ({ url, post }) => {
      const origin = 'http://localhost:4200';
      const preflight = await fetch(url + CHAT, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type,idempotency-key,x-gateway-pace',
        },
      });
      assert.equal(preflight.status, 204);
      assert.equal(preflight.headers.get('access-control-allow-origin'), origin);
      assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /idempotency-key/);

      const response = await post(CHAT, user('Say "hi"'), { headers: { origin } });
      assert.equal(response.headers.get('access-control-allow-origin'), origin);
      assert.match(await response.text(), /\[DONE\]/);
    }),
  );

  it(
    'is asked for by GET, and an EventSource that comes again is sent away',
    withRelay(async ({ url, gateway }) => {
      const response = await fetch(`${url}/chat?prompt=${encodeURIComponent('Say "hello"')}`);
      assert.equal(response.status, 200);
      assert.equal(dataOf(await response.text()).at(-1), '[DONE]');

      const again = await fetch(`${url}/chat?prompt=hello`, { headers: { 'last-event-id': '3' } });
      assert.equal(again.status, 204);
      assert.equal((await fetch(`${url}/chat`)).status, 400);
      assert.equal(gateway.journal.length, 1);
    }),
  );

  it(
    'is kept alive by comments while the model thinks',
    withRelay(
      async ({ post }) => {
        const body = await (await post(CHAT, user('Say "at last"'))).text();
        const [thinking = '', answer = ''] = body.split('"content":"at', 2);

        assert((thinking.match(/^: keepalive$/gm) ?? []).length >= 2, thinking);
        assert(!answer.includes('keepalive'));
        assert.match(answer, /\[DONE\]/);
      },
      { pace: { ttftMs: 400 }, keepAliveMs: 0, config: { keepAliveMs: 80 } },
    ),
  );
});

describe('a failure', () => {
  for (const path of [CHAT, '/v1/responses', '/v1/messages', '/v1/images']) {
    it(
      `of the gateway before the first token is an HTTP status: ${path}`,
      withRelay(
        async ({ post, url, gateway }) => {
          const response = await post(path, { ...user('Hi'), input: 'Hi', prompt: 'Hi', max_tokens: 9 });
          const body = (await response.json()) as { error: { message: string; code: unknown } };

          assert.equal(response.status, 429);
          assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
          assert.equal(response.headers.get('retry-after'), '7');
          assert.equal(response.headers.get('x-should-retry'), 'true');
          assert.equal(typeof body.error.message, 'string');
          assert(!JSON.stringify(body).includes(new URL(gateway.url).host), 'the gateway stays unnamed');
          assert.equal((await fetch(`${url}/v1/nothing`, { method: 'POST' })).status, 404);
        },
        { fault: '429; retry-after=7' },
      ),
    );
  }

  it(
    'inside the stream before the first token is a status, too',
    withRelay(
      async ({ post, ended }) => {
        const response = await post('/v1/responses', { model: 'm', input: 'Hi' });

        assert(response.status >= 500, `${response.status}`);
        assert.match(await response.text(), /^\{"error":/);
        assert.equal((await ended()).billed, undefined);
      },
      { fault: 'error=0' },
    ),
  );

  it(
    'of the server’s own key is none of the reader’s business: 502',
    withRelay(
      async ({ url, post, gateway }) => {
        const response = await post(CHAT, user('Hi'), { headers: { origin: 'http://localhost:4200' } });
        assert.equal(response.status, 502);
        assert.equal(response.headers.get('x-should-retry'), 'false');
        assert.match(response.headers.get('access-control-expose-headers') ?? '', /x-should-retry/);
        assert.deepEqual(await response.json(), {
          error: { message: 'The service could not answer this request', type: 'server_error', code: 'access_denied' },
        });

        const asked = gateway.journal.length;
        const text = createLlmClient({ baseUrl: `${url}/v1` })
          .chatCompletions(user('Hi'))
          .pipe(retryBeforeFirstToken({ delay: 1 }), textDeltas());
        await assert.rejects(lastValueFrom(text), { status: 502, retryable: false });
        assert.equal(gateway.journal.length, asked + 1);
      },
      { fault: '401' },
    ),
  );

  it(
    'of a gateway that is not there is 502',
    withRelay(async ({ post }) => assert.equal((await post(CHAT, user('Hi'))).status, 502), {
      config: { baseUrl: 'http://127.0.0.1:9/v1' },
    }),
  );

  it(
    'of the request is told as it was: 400',
    withRelay(async ({ post, gateway }) => {
      assert.equal((await post(CHAT, [])).status, 400);
      assert.equal(gateway.journal.length, 0);
    }),
  );

  it(
    'after the first token is a frame in the endpoint’s own shape',
    withRelay(
      async ({ post, url }) => {
        const chat = await post(CHAT, user('Count to 30'));
        assert.equal(chat.status, 200);
        const frames = dataOf(await chat.text());
        assert.equal(frames.at(-1), '[DONE]');
        assert.equal(typeof JSON.parse(frames.at(-2)!).error.message, 'string');

        const messages = await (await post('/v1/messages', { ...user('Count to 30'), max_tokens: 500 })).text();
        assert.match(
          messages,
          /\n\nevent: error\n(?:id: .*\n)?data: \{"type":"error","error":\{"type":"[^"]+","message":"/,
        );

        const llm = createLlmClient({ baseUrl: `${url}/v1`, apiKey: 'any' });
        const pieces: string[] = [];
        const failure = await new Promise((resolve) =>
          llm
            .responses({ model: 'm', input: 'Count to 30' })
            .pipe(textDeltas())
            .subscribe({ next: (text) => pieces.push(text), error: resolve, complete: () => resolve(undefined) }),
        );
        assert.equal((failure as { kind?: string }).kind, 'in-band');
        assert.equal(pieces.length, 5);
      },
      { fault: 'reset=5' },
    ),
  );

  it(
    'that passes is retried by the browser’s client, under one idempotency key',
    withRelay(
      async ({ url, gateway }) => {
        const llm = createLlmClient({ baseUrl: `${url}/v1`, apiKey: 'any' });
        const usage = await firstValueFrom(
          llm.chatCompletions(user('Say "third time"')).pipe(retryBeforeFirstToken({ delay: 10 }), finalUsage()),
        );

        assert.equal(usage.outputTokens, 2);
        assert.deepEqual(
          gateway.journal.map(({ status, attempt }) => [status, attempt]),
          [
            [503, 1],
            [503, 2],
            [200, 3],
          ],
        );
      },
      { fault: '503; times=2' },
    ),
  );
});

describe('a reader that leaves', () => {
  for (const path of [CHAT, '/v1/responses', '/v1/messages', '/v1/images']) {
    it(
      `while nothing has come aborts the request to the gateway, which costs nothing: ${path}`,
      withRelay(
        async ({ post, gateway, ended }) => {
          const controller = new AbortController();
          const body = { ...user('Hi'), input: 'Hi', prompt: 'Hi', max_tokens: 9 };
          const asked = post(path, body, { signal: controller.signal });
          await until(() => gateway.journal.length === 1);
          controller.abort();

          await assert.rejects(asked, { name: 'AbortError' });
          const entry = await ended();
          assert.equal(entry.outcome, 'hung-up');
          assert.equal(entry.tokensDelivered, 0);
          assert.equal(entry.billed?.outputTokens ?? 0, 0);
        },
        { fault: 'stall=headers' },
      ),
    );
  }

  it(
    'in the middle aborts the request to the gateway, and pays for what was delivered',
    withRelay(
      async ({ post, ended }) => {
        const controller = new AbortController();
        const response = await post(CHAT, user('Count to 200'), { signal: controller.signal });
        let body = '';
        await assert.rejects(
          async () => {
            for await (const text of texts(response)) {
              body += text;
              if (dataOf(body).length > 10) controller.abort();
            }
          },
          { name: 'AbortError' },
        );

        const entry = await ended();
        assert.equal(entry.outcome, 'hung-up');
        assert(
          entry.tokensDelivered >= 8 && entry.tokensDelivered < entry.tokensPlanned / 2,
          `${entry.tokensDelivered}`,
        );
        assert.equal(entry.billed?.outputTokens, entry.tokensDelivered);
      },
      { pace: { tokensPerSecond: 100 } },
    ),
  );

  it(
    'by GET is no other',
    withRelay(
      async ({ url, ended }) => {
        const controller = new AbortController();
        const response = await fetch(`${url}/chat?prompt=Count+to+200`, { signal: controller.signal });
        for await (const text of texts(response)) if (text.includes('content')) break;
        controller.abort();

        const entry = await ended();
        assert.equal(entry.outcome, 'hung-up');
        assert(entry.tokensDelivered < entry.tokensPlanned / 2);
      },
      { pace: { tokensPerSecond: 100 } },
    ),
  );
});

describe('a reader that does not read', () => {
  /** Asks, and reads nothing of the answer until it is told to. */
  async function askAndWait(url: string, path: string, body: object): Promise<IncomingMessage> {
    const request = httpRequest(url + path, { method: 'POST', headers: { 'content-type': 'application/json' } });
    request.end(JSON.stringify(body));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.pause();
    response.on('error', () => {});
    return response;
  }

  const essay = { ...user('Write 60000 words about rivers'), n: 4 };
  const heavy = { model: 'm', prompt: 'A forest', size: '2048x2048', quality: 'high', n: 4, partial_images: 3 };
  for (const [way, path, body] of [
    ['Nest', CHAT, essay],
    ['pipeServerSentEvents()', '/v1/images', heavy],
  ] as const) {
    it(
      `is cut off by ${way} once too much waits, and the request to the gateway with it`,
      withRelay(async ({ url, ended }) => {
        const response = await askAndWait(url, path, body);
        const entry = await ended();

        assert.equal(entry.outcome, 'hung-up', `${entry.bytesDelivered} bytes`);
        assert(entry.tokensDelivered < entry.tokensPlanned, `${entry.tokensDelivered} of ${entry.tokensPlanned}`);
        // What waited at each hop: in the relay as much as it lets, and what the system keeps for two sockets.
        assert(entry.bytesDelivered < 40e6, `${entry.bytesDelivered} bytes`);
        // What it reads now ends in the middle: no reader takes that for a whole answer.
        let text = '';
        response.setEncoding('utf8').on('data', (more: string) => (text += more));
        response.resume();
        await new Promise((resolve) => response.once('close', resolve));
        assert.equal(response.complete, false);
        assert(!text.includes('[DONE]'));
      }),
    );
  }

  it(
    'for a moment only loses nothing',
    withRelay(async ({ url, ended }) => {
      const response = await askAndWait(url, CHAT, user('Write 2000 words about rivers'));
      await sleep(300);
      let text = '';
      for await (const more of response.setEncoding('utf8')) text += String(more);

      assert.match(text, /\[DONE\]/);
      assert.equal((await ended()).outcome, 'completed');
    }),
  );
});
