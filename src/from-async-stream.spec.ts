import Anthropic from '@anthropic-ai/sdk';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { firstValueFrom, lastValueFrom, Subject, switchMap, take, toArray, type Observable } from 'rxjs';
import { fromAsyncStream, type AsyncStream } from './from-async-stream.js';

/** A stream that is fed by hand, and that writes down what is done to it. */
class HandMade implements AsyncStream<string>, AsyncIterator<string> {
  readonly calls: string[] = [];
  asked = 0;
  readonly controller = { abort: () => void this.calls.push('abort') };
  #answer: { resolve(result: IteratorResult<string>): void; reject(error: unknown): void } | undefined;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<string>> {
    this.asked++;
    return new Promise((resolve, reject) => (this.#answer = { resolve, reject }));
  }

  return(): Promise<IteratorResult<string>> {
    this.calls.push('return');
    return Promise.reject(new Error('a return that fails'));
  }

  async give(value: string): Promise<void> {
    this.#answer?.resolve({ done: false, value });
    await sleep(0);
  }

  async fail(error: unknown): Promise<void> {
    this.#answer?.reject(error);
    await sleep(0);
  }

  async end(): Promise<void> {
    this.#answer?.resolve({ done: true, value: undefined });
    await sleep(0);
  }
}

function told<T>(source: Observable<T>): { log: string[]; leave(): void } {
  const log: string[] = [];
  const subscription = source.subscribe({
    next: (value) => log.push(String(value)),
    error: (error) => log.push(`# ${String(error)}`),
    complete: () => log.push('|'),
  });
  return { log, leave: () => subscription.unsubscribe() };
}

describe('fromAsyncStream', () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  beforeAll(() => void process.on('unhandledRejection', note));
  afterAll(() => void process.off('unhandledRejection', note));
  afterEach(async () => {
    await sleep(5);
    expect(unhandled).toEqual([]);
  });

  it('emits what comes, as it comes, and completes', async () => {
    const stream = new HandMade();
    const { log } = told(fromAsyncStream(() => stream));
    await sleep(0);
    await stream.give('a');
    expect(log).toEqual(['a']);
    await stream.give('b');
    await stream.end();
    expect(log).toEqual(['a', 'b', '|']);
    expect(stream.calls).toEqual([]);
  });

  it('calls the factory at each subscription, synchronously, and not before', () => {
    const signals: AbortSignal[] = [];
    const source = fromAsyncStream((signal) => {
      signals.push(signal);
      return new HandMade();
    });
    expect(signals).toHaveLength(0);
    source.subscribe().unsubscribe();
    source.subscribe().unsubscribe();
    expect(signals).toHaveLength(2);
    expect(signals[0]).not.toBe(signals[1]);
  });

  it('takes any async iterable, with or without a promise around it', async () => {
    const letters = async function* (): AsyncGenerator<string> {
      yield 'a';
      await sleep(1);
      yield 'b';
    };
    expect(await lastValueFrom(fromAsyncStream(letters).pipe(toArray()))).toEqual(['a', 'b']);
    expect(await lastValueFrom(fromAsyncStream(() => Promise.resolve(letters())).pipe(toArray()))).toEqual(['a', 'b']);
  });

  it('passes on what the factory throws, what the promise is rejected with, and what the stream throws', async () => {
    expect(
      told(
        fromAsyncStream((): AsyncStream<string> => {
          throw new Error('sync');
        }),
      ).log,
    ).toEqual(['# Error: sync']);

    const rejected = told(fromAsyncStream(() => Promise.reject<AsyncStream<string>>(new Error('async'))));
    await sleep(0);
    expect(rejected.log).toEqual(['# Error: async']);

    const stream = new HandMade();
    const broken = told(fromAsyncStream(() => stream));
    await sleep(0);
    await stream.give('a');
    await stream.fail(new Error('late'));
    expect(broken.log).toEqual(['a', '# Error: late']);
    expect(stream.calls).toEqual([]);
  });

  it('says what is wrong when there is nothing to iterate', async () => {
    // @ts-expect-error -- a factory that forgets to return
    const { log } = told(fromAsyncStream(() => undefined));
    await sleep(0);
    expect(log).toEqual([expect.stringContaining('Did you forget `stream: true`')]);
  });

  it('aborts while an event is awaited: the signal, the controller and the iterator', async () => {
    const stream = new HandMade();
    let signal: AbortSignal | undefined;
    const { log, leave } = told(
      fromAsyncStream((own) => {
        signal = own;
        return stream;
      }),
    );
    await sleep(0);
    await stream.give('a');
    leave();
    expect(signal?.aborted).toBe(true);
    expect(stream.calls).toEqual(['abort', 'return']);
    await stream.give('b');
    await stream.fail(new Error('unheard'));
    expect(log).toEqual(['a']);
  });

  it('aborts a stream that arrives only after the subscriber has left', async () => {
    const stream = new HandMade();
    let arrive: (stream: HandMade) => void = () => {};
    let signal: AbortSignal | undefined;
    const { log, leave } = told(
      fromAsyncStream((own) => {
        signal = own;
        return new Promise<HandMade>((resolve) => (arrive = resolve));
      }),
    );
    leave();
    expect(signal?.aborted).toBe(true);
    arrive(stream);
    await sleep(0);
    expect(stream.calls).toEqual(['abort', 'return']);
    expect(log).toEqual([]);
  });

  it('hears of nothing that fails after the subscriber has left', async () => {
    let fail: (error: unknown) => void = () => {};
    const { log, leave } = told(fromAsyncStream(() => new Promise<HandMade>((_resolve, reject) => (fail = reject))));
    leave();
    fail(new Error('aborted'));
    await sleep(0);
    expect(log).toEqual([]);
  });

  it('makes no request for a subscriber that leaves just before it is subscribed to', () => {
    const factory = jest.fn(() => new HandMade());
    const questions = new Subject<string>();
    const answers = switchMap(() => {
      subscription.unsubscribe();
      return fromAsyncStream(factory);
    });
    const subscription = questions.pipe(answers).subscribe();
    questions.next('Hi');
    expect(factory).not.toHaveBeenCalled();
  });

  it('asks for nothing more once the subscriber has left in its own next', async () => {
    const stream = new HandMade();
    const { log } = told(fromAsyncStream(() => stream).pipe(take(1)));
    await sleep(0);
    await stream.give('a');
    expect(log).toEqual(['a', '|']);
    expect(stream.asked).toBe(1);
  });

  it('lets a generator clean up when the subscriber leaves in its own next', async () => {
    let asked = 0;
    let closed = false;
    const source = fromAsyncStream(async function* () {
      try {
        for (;;) {
          await sleep(0);
          yield ++asked;
        }
      } finally {
        closed = true;
      }
    });
    expect(await lastValueFrom(source.pipe(take(2), toArray()))).toEqual([1, 2]);
    await sleep(5);
    expect(asked).toBe(2);
    expect(closed).toBe(true);
  });

  it('aborts nothing after the end', async () => {
    const stream = new HandMade();
    let signal: AbortSignal | undefined;
    const { log, leave } = told(
      fromAsyncStream((own) => {
        signal = own;
        return stream;
      }),
    );
    await sleep(0);
    await stream.end();
    leave();
    expect(log).toEqual(['|']);
    expect(signal?.aborted).toBe(false);
    expect(stream.calls).toEqual([]);
  });

  describe('with the SDKs', () => {
    let server: Server;
    let url: string;
    let closed: Promise<void>;
    let serve: (response: ServerResponse) => void;

    beforeEach(async () => {
      let close = (): void => {};
      closed = new Promise((resolve) => (close = resolve));
      server = createServer((request, response) => {
        request.resume();
        response.on('close', () => {
          if (!response.writableFinished) close();
        });
        serve(response);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });

    afterEach(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });

    const frames = (response: ServerResponse, ...events: { readonly type?: string }[]): void => {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of events) {
        response.write(`${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
      }
    };
    const chunk = (content: string): object => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
    const textDelta = (text: string) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    });

    const openaiChunks = (withSignal = false) => {
      const client = new OpenAI({ baseURL: url, apiKey: 'key', maxRetries: 0 });
      return fromAsyncStream((signal) =>
        client.chat.completions.create(
          { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true },
          withSignal ? { signal } : {},
        ),
      );
    };
    const anthropicEvents = (withSignal = false) => {
      const client = new Anthropic({ baseURL: url, apiKey: 'key', maxRetries: 0 });
      return fromAsyncStream((signal) =>
        client.messages.create(
          { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], stream: true },
          withSignal ? { signal } : {},
        ),
      );
    };

    it('emits the chunks of openai', async () => {
      serve = (response) => {
        frames(response, chunk('a'), chunk('b'));
        response.end('data: [DONE]\n\n');
      };
      const chunks = await lastValueFrom(openaiChunks().pipe(toArray()));
      expect(chunks).toEqual([chunk('a'), chunk('b')]);
    });

    it('emits the events of @anthropic-ai/sdk', async () => {
      serve = (response) => {
        frames(response, textDelta('a'), { type: 'message_stop' });
        response.end();
      };
      const events = await lastValueFrom(anthropicEvents().pipe(toArray()));
      expect(events).toEqual([textDelta('a'), { type: 'message_stop' }]);
    });

    it.each([
      ['openai', (): Observable<unknown> => openaiChunks(), () => chunk('a')],
      ['@anthropic-ai/sdk', (): Observable<unknown> => anthropicEvents(), () => textDelta('a')],
    ])(
      'closes the connection of %s when the subscriber leaves while the next event is awaited',
      async (_name, source, event) => {
        serve = (response) => frames(response, event());
        await firstValueFrom(source());
        await closed;
      },
    );

    it.each([
      ['openai', (): Observable<unknown> => openaiChunks(true)],
      ['@anthropic-ai/sdk', (): Observable<unknown> => anthropicEvents(true)],
    ])('gives up the request of %s when the subscriber leaves before there is an answer', async (_name, source) => {
      serve = () => {};
      const { log, leave } = told(source());
      await once(server, 'request');
      leave();
      await closed;
      expect(log).toEqual([]);
    });

    it('passes on the error of the SDK', async () => {
      serve = (response) =>
        response.writeHead(429, { 'content-type': 'application/json' }).end('{"error":{"message":"slow"}}');
      await expect(lastValueFrom(openaiChunks())).rejects.toBeInstanceOf(OpenAI.RateLimitError);
    });
  });
});

it('refuses a stream that is under way already', () => {
  expect(() => fromAsyncStream({ async *[Symbol.asyncIterator]() {} } as never)).toThrow(
    /^fromAsyncStream: give it a function/,
  );
});
