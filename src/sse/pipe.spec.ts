import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import * as http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  EMPTY,
  NEVER,
  Observable,
  Subject,
  concat,
  config,
  from,
  map,
  of,
  throwError,
  timer,
  type Subscription,
} from 'rxjs';
import { ConnectionError, HttpResponseError, StreamTimeoutError } from '../errors.js';
import { pipeServerSentEvents, type PipeServerSentEventsOptions } from './pipe.js';
import type { ServerSentEvent } from './server-sent-event.js';

const event = (data: string): ServerSentEvent => ({ data });

/** A source that tells when it is unsubscribed from. */
function watched<T>(source: Observable<T>): { source: Observable<T>; subscribed: () => boolean; left: Promise<void> } {
  let active = false;
  let leave = (): void => {};
  const left = new Promise<void>((resolve) => (leave = resolve));
  return {
    source: new Observable<T>((subscriber) => {
      active = true;
      subscriber.add(() => {
        active = false;
        leave();
      });
      return source.subscribe(subscriber);
    }),
    subscribed: () => active,
    left,
  };
}

describe('pipeServerSentEvents', () => {
  let server: Server;
  let response: ServerResponse | undefined;
  let subscription: Subscription | undefined;

  async function serve(source: Observable<ServerSentEvent>, options?: PipeServerSentEventsOptions): Promise<number> {
    server = createServer((_request, res) => {
      response = res;
      subscription = pipeServerSentEvents(source, res, options);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  async function get(port: number): Promise<IncomingMessage> {
    const [incoming] = (await once(request({ port, host: '127.0.0.1' }).end(), 'response')) as [IncomingMessage];
    return incoming;
  }

  async function read(incoming: IncomingMessage): Promise<string> {
    let body = '';
    for await (const chunk of incoming.setEncoding('utf8')) body += String(chunk);
    return body;
  }

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const listeners = (): number =>
    ['close', 'error', 'drain'].reduce((sum, name) => sum + (response?.listenerCount(name) ?? 0), 0);

  it('writes the head with the first event, and the events as they come', async () => {
    const events = new Subject<ServerSentEvent>();
    const port = await serve(events);
    const answer = get(port);
    await once(server, 'request');
    await sleep(5);
    expect(response?.headersSent).toBe(false);

    events.next({ type: 'a', data: '1' });
    const incoming = await answer;
    expect(incoming.statusCode).toBe(200);
    expect(incoming.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    const [first] = (await once(incoming, 'data')) as [Buffer];
    expect(String(first)).toBe('event: a\ndata: 1\n\n');

    events.next({ data: '€' });
    const [second] = (await once(incoming, 'data')) as [Buffer];
    expect(String(second)).toBe('data: €\n\n');

    events.complete();
    await once(incoming.resume(), 'end');
    expect(subscription?.closed).toBe(true);
  });

  it('writes an empty stream for a source without events', async () => {
    const incoming = await get(await serve(EMPTY));
    expect(incoming.statusCode).toBe(200);
    expect(incoming.headers['content-type']).toBe('text/event-stream');
    expect(await read(incoming)).toBe('');
  });

  it('lets headers be added and replaced, and keeps those that were set before', async () => {
    server = createServer((_request, res) => {
      res.setHeader('access-control-allow-origin', '*');
      pipeServerSentEvents(of(event('a')), res, { headers: { 'cache-control': 'no-store', 'x-mine': '1' } });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const incoming = await get((server.address() as AddressInfo).port);
    expect(incoming.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'no-store',
      'x-mine': '1',
      'content-type': 'text/event-stream',
    });
    expect(await read(incoming)).toBe('data: a\n\n');
  });

  it('unsubscribes when the reader leaves while nothing has come', async () => {
    const { source, subscribed, left } = watched(NEVER);
    const port = await serve(source);
    const req = request({ port, host: '127.0.0.1' }).on('error', () => {});
    req.end();
    await once(server, 'request');
    expect(subscribed()).toBe(true);
    req.destroy();
    await left;
    expect(subscription?.closed).toBe(true);
    expect(listeners()).toBe(0);
  });

  it('unsubscribes when the reader leaves in the middle', async () => {
    const { source, left } = watched(timer(0, 5).pipe(map((i) => event(String(i)))));
    const incoming = await get(await serve(source));
    await once(incoming, 'data');
    incoming.destroy();
    await left;
    await sleep(20);
    expect(listeners()).toBe(0);
  });

  it('subscribes to nothing when the reader has left already', async () => {
    const { source, subscribed } = watched(NEVER);
    let closed: boolean | undefined;
    server = createServer((_request, res) => {
      res.on('close', () => {
        closed = pipeServerSentEvents(source, res).closed;
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const req = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }).on('error', () => {});
    req.end();
    await once(server, 'request');
    req.destroy();
    while (closed === undefined) await sleep(5);
    expect(closed).toBe(true);
    expect(subscribed()).toBe(false);
  });

  it('cuts off a reader that falls behind', async () => {
    const block = event('x'.repeat(64 * 1024));
    let emitted = 0;
    const { source, left } = watched(
      timer(0, 1).pipe(
        map(() => {
          emitted++;
          return block;
        }),
      ),
    );
    const incoming = await get(await serve(source, { maxBufferedBytes: 256 * 1024 }));
    // It never reads: what the sockets hold fills up, then the response's own buffer.
    incoming.pause();
    await left;
    expect(response?.destroyed).toBe(true);
    expect(subscription?.closed).toBe(true);
    const atTheEnd = emitted;
    await sleep(20);
    expect(emitted).toBe(atTheEnd);
    incoming.on('error', () => {});
    await expect(read(incoming)).rejects.toThrow('aborted');
  });

  it('stops a synchronous source that writes more than may wait', async () => {
    let emitted = 0;
    const endless = new Observable<ServerSentEvent>((subscriber) => {
      while (!subscriber.closed) {
        emitted++;
        subscriber.next(event('x'.repeat(1024)));
      }
    });
    const port = await serve(endless, { maxBufferedBytes: 100 * 1024 });
    await expect(get(port).then(read)).rejects.toThrow();
    expect(emitted).toBeLessThan(110);
  });

  it('lets a prompt reader have an event that is larger than the limit', async () => {
    const image = 'i'.repeat(3 * 1024 * 1024);
    const source = concat(of(event(image)), timer(300).pipe(map(() => event(image))));
    const body = await read(await get(await serve(source, { maxBufferedBytes: 64 * 1024 })));
    expect(body.length).toBe(2 * (image.length + 'data: \n\n'.length));
  });

  it('answers an error before any event with its own status', async () => {
    const error = new HttpResponseError('chatCompletions: https://10.0.0.1/v1 answered 429: Slow down. Wait.', {
      providerMessage: 'Slow down',
      status: 429,
      code: 'rate_limit_exceeded',
      type: 'rate_limit_error',
      retryAfterMs: 1500,
      retryable: true,
      cause: new Error('secret'),
    });
    const incoming = await get(await serve(throwError(() => error)));
    expect(incoming.statusCode).toBe(429);
    expect(incoming.headers).toMatchObject({
      'content-type': 'application/json',
      'retry-after': '2',
      'x-should-retry': 'true',
    });
    expect(JSON.parse(await read(incoming))).toEqual({
      error: { message: 'Slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' },
    });
    expect(listeners()).toBe(0);
  });

  it.each([
    ['messages', { type: 'error', error: { type: 'overloaded_error' } }],
    ['responses', { error: { type: 'overloaded_error' } }],
    [undefined, { error: { type: 'overloaded_error' } }],
  ] as const)('answers an error in the shape of its endpoint (%s)', async (endpoint, expected) => {
    const details = { endpoint, status: 529, type: 'overloaded_error', retryable: true };
    const source = throwError(() => new HttpResponseError('x', details));
    const body = JSON.parse(await read(await get(await serve(source)))) as object;
    expect(body).toMatchObject(expected);
    expect(Object.keys(body)).toEqual(Object.keys(expected));
  });

  it.each([
    ['its own key was refused', new HttpResponseError('Unauthorized', { status: 401 }), 502, 'false'],
    ['its own account is spent', new HttpResponseError('x', { status: 429, code: 'insufficient_quota' }), 502, 'false'],
    ['the gateway cannot be reached', new ConnectionError('Refused', { retryable: true }), 502, 'true'],
    ['the gateway is too slow', new StreamTimeoutError('No headers', 'headers', { retryable: true }), 504, 'true'],
    ['it is none of the library', new Error('db password is hunter2'), 500, undefined],
  ])('answers an error with a status of its own if %s', async (_name, error, status, shouldRetry) => {
    const incoming = await get(
      await serve(
        timer(5).pipe(
          map(() => {
            throw error;
          }),
        ),
      ),
    );
    expect(incoming.statusCode).toBe(status);
    expect(incoming.headers).not.toHaveProperty('retry-after');
    expect(incoming.headers['x-should-retry']).toBe(shouldRetry);
    expect(await read(incoming)).not.toContain('hunter2');
  });

  it('leaves the answer to onError, if there is one', async () => {
    const errors: unknown[] = [];
    const port = await serve(
      throwError(() => 'reason'),
      {
        onError: (error) => {
          errors.push(error);
          response?.writeHead(418).end('teapot');
        },
      },
    );
    const incoming = await get(port);
    expect(incoming.statusCode).toBe(418);
    expect(await read(incoming)).toBe('teapot');
    expect(errors).toEqual(['reason']);
  });

  it('tells an error after the first event as an event, and ends', async () => {
    const error = new ConnectionError('Gone', { code: 'ECONNRESET', retryable: true });
    const incoming = await get(
      await serve(
        concat(
          of(event('a')),
          throwError(() => error),
        ),
      ),
    );
    expect(incoming.statusCode).toBe(200);
    expect(await read(incoming)).toBe(
      'data: a\n\n' +
        'event: error\ndata: {"type":"error","error":{"message":"The model could not be reached","type":"server_error","code":"ECONNRESET"}}\n\n',
    );
  });

  it('tells an error as an event if the head had been sent before', async () => {
    server = createServer((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      pipeServerSentEvents(
        timer(5).pipe(
          map(() => {
            throw new Error('x');
          }),
        ),
        res,
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const incoming = await get((server.address() as AddressInfo).port);
    expect(await read(incoming)).toMatch(/^event: error\ndata: .*"The stream failed".*\n\n$/);
  });

  it('takes the head as it is if somebody else sends it before the first event', async () => {
    const events = new Subject<ServerSentEvent>();
    const answer = get(await serve(events));
    await once(server, 'request');
    response?.writeHead(202).flushHeaders();
    events.next(event('a'));
    events.error(new Error('x'));
    const incoming = await answer;
    expect(incoming.statusCode).toBe(202);
    expect(await read(incoming)).toMatch(/^data: a\n\nevent: error\n/);
  });

  it('writes nothing more when somebody else has ended the response', async () => {
    const events = new Subject<ServerSentEvent>();
    const answer = get(await serve(events));
    await once(server, 'request');
    events.next(event('a'));
    response?.end();
    events.next(event('b'));
    expect(events.observed).toBe(false);
    expect(await read(await answer)).toBe('data: a\n\n');
  });

  it('hears the errors of the response, which would else end the process', async () => {
    const writeHead = (): void => {};
    const broken = Object.assign(new PassThrough(), { headersSent: false, writeHead });
    const events = new Subject<ServerSentEvent>();
    pipeServerSentEvents(events, broken);
    const closed = new Promise((resolve) => broken.on('close', resolve));
    broken.destroy(new Error('EPIPE'));
    await closed;
    expect(events.observed).toBe(false);
    expect(broken.listenerCount('error')).toBe(0);
  });

  it('cuts the connection when it is unsubscribed from in the middle', async () => {
    const { source, left } = watched(concat(of(event('a')), NEVER));
    const incoming = await get(await serve(source));
    incoming.on('error', () => {});
    const body = read(incoming);
    subscription?.unsubscribe();
    await left;
    await expect(body).rejects.toThrow('aborted');
  });

  it('leaves the response alone when it is unsubscribed from before anything was written', async () => {
    const answer = get(await serve(NEVER));
    await once(server, 'request');
    subscription?.unsubscribe();
    expect(listeners()).toBe(0);
    response?.writeHead(503).end();
    expect((await answer).statusCode).toBe(503);
  });

  describe('given the events of an endpoint, which are no frames', () => {
    const raw = { type: 'response.created', sequence_number: 0 } as object as ServerSentEvent;
    const raised: unknown[] = [];
    beforeEach(() => {
      raised.length = 0;
      config.onUnhandledError = (error) => raised.push(error);
    });
    afterEach(() => {
      config.onUnhandledError = null;
    });
    const mistake = new TypeError(
      'pipeServerSentEvents: an event has neither data nor comment; did you forget toServerSentEvents()?',
    );

    it('answers 500, leaves the source and raises the mistake', async () => {
      const { source, subscribed } = watched(concat(of(raw), NEVER));
      const incoming = await get(await serve(source));
      expect(incoming.statusCode).toBe(500);
      expect(await read(incoming)).toBe(
        '{"error":{"message":"The stream failed","type":"server_error","code":"internal_error"}}',
      );
      expect(subscribed()).toBe(false);
      await sleep(5);
      expect(raised).toEqual([mistake]);
      expect(listeners()).toBe(0);
    });

    it('ends a stream that has begun with an error event', async () => {
      const incoming = await get(await serve(of(event('a'), raw, event('b'))));
      expect(await read(incoming)).toMatch(/^data: a\n\nevent: error\ndata: .*"The stream failed".*\n\n$/);
      await sleep(5);
      expect(raised).toEqual([mistake]);
    });

    it('tells onError, too', async () => {
      const errors: unknown[] = [];
      const onError = (error: unknown): void => {
        errors.push(error);
        response?.writeHead(418).end();
      };
      expect((await get(await serve(of(raw), { onError }))).statusCode).toBe(418);
      expect(errors).toEqual([mistake]);
      await sleep(5);
      expect(raised).toEqual([mistake]);
    });

    it('takes empty data and a comment alone', async () => {
      expect(await read(await get(await serve(of({ data: '' }, { comment: '' }))))).toBe('data: \n\n: \n\n');
      expect(raised).toEqual([]);
    });
  });

  it('leaves no listener behind after the end', async () => {
    const incoming = await get(await serve(from(['a', 'b'].map(event))));
    expect(await read(incoming)).toBe('data: a\n\ndata: b\n\n');
    await sleep(20);
    expect(listeners()).toBe(0);
  });
});

describe('a call of pipeServerSentEvents with something else', () => {
  const response = Object.assign(new PassThrough(), { headersSent: false, writeHead: () => {} });

  it.each([
    ['a Promise', Promise.resolve(EMPTY)],
    ['nothing', undefined],
    ['null', null],
    ['frames', [{ data: '' }]],
  ])('throws if the source is %s', (_name, source) => {
    expect(() => pipeServerSentEvents(source as never, response)).toThrow(
      new TypeError(
        'pipeServerSentEvents needs its source to be an Observable; a Promise of one has to be awaited first',
      ),
    );
    expect(response.writableEnded).toBe(false);
  });

  it.each([{}, undefined, null])('throws if the response is %p', (given) => {
    expect(() => pipeServerSentEvents(NEVER, given as never)).toThrow(
      new TypeError('pipeServerSentEvents needs the response of a Node server'),
    );
  });
});

describe('pipeServerSentEvents over HTTP/2', () => {
  let server: http2.Http2Server;
  let session: http2.ClientHttp2Session;
  let subscription: Subscription | undefined;

  async function open(source: Observable<ServerSentEvent>): Promise<http2.ClientHttp2Stream> {
    server = http2.createServer((_request, response) => {
      subscription = pipeServerSentEvents(source, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return session.request({ ':path': '/' });
  }

  afterEach(async () => {
    session.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('writes, and hears of a reader that leaves', async () => {
    const { source, left } = watched(timer(0, 5).pipe(map((i) => event(String(i)))));
    const stream = await open(source);
    const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
    expect(headers['content-type']).toBe('text/event-stream');
    const [data] = (await once(stream, 'data')) as [Buffer];
    expect(String(data)).toMatch(/^data: 0\n\n/);
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await left;
  });

  it('cuts the stream when it is unsubscribed from in the middle', async () => {
    const stream = await open(concat(of(event('a')), NEVER));
    await once(stream, 'data');
    const closed = once(stream, 'close');
    subscription?.unsubscribe();
    await closed;
    expect(stream.rstCode).toBe(http2.constants.NGHTTP2_CANCEL);
  });
});
