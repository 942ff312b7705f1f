import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { concat, firstValueFrom, from, map, materialize, of, throwError, toArray, type Observable } from 'rxjs';
import {
  ConnectionError,
  createLlmClient,
  encodeServerSentEvent,
  parseServerSentEvents,
  StreamEventError,
  StreamTimeoutError,
  toServerSentEvents,
  TruncatedStreamError,
  type LlmStreamError,
  type ServerSentEvent,
  type ServerSentEventsConfig,
} from 'rx-llm';
import { chat, images, messages, responses, splitBytes } from 'rx-llm/testing';

type Endpoint = 'chatCompletions' | 'responses' | 'messages' | 'images';

/** The frames, as one text: what goes over the wire. */
async function wire(source: Observable<object>, config?: ServerSentEventsConfig): Promise<string> {
  const frames = await firstValueFrom(source.pipe(toServerSentEvents(config), map(encodeServerSentEvent), toArray()));
  return frames.join('');
}

/** What a reader by the specification makes of it. */
function parse(text: string): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => events.push(event === undefined ? { data } : { type: event, data }),
  });
  parser.feed(text);
  return events;
}

/** What this library's own client makes of it, in reads of `size` bytes. */
async function readBack(
  endpoint: Endpoint,
  text: string,
  size: number,
): Promise<{ events: object[]; error?: LlmStreamError }> {
  const reads = [...splitBytes(new TextEncoder().encode(text), size)];
  const client = createLlmClient({
    baseUrl: 'https://gateway.example/v1',
    transport: () => of({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: from(reads) }),
  });
  const answers: Record<Endpoint, () => Observable<object>> = {
    chatCompletions: () => client.chatCompletions({ model: 'm', messages: [] }),
    responses: () => client.responses({ model: 'm', input: '' }),
    messages: () => client.messages({ model: 'm', max_tokens: 1, messages: [] }),
    images: () => client.images({ model: 'm', prompt: '' }),
  };
  const told = await firstValueFrom(answers[endpoint]().pipe(materialize(), toArray()));
  const events = told.flatMap((notification) =>
    notification.kind === 'N' && notification.value ? [notification.value] : [],
  );
  const last = told.at(-1);
  return last?.kind === 'E' ? { events, error: last.error as LlmStreamError } : { events };
}

// Line ends, what looks like a field or a sentinel, characters of every width, halves of surrogates.
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\n',
        '\r',
        '\r\n',
        '\n\n',
        'data: ',
        ': ',
        '[DONE]',
        'é',
        '漢',
        '😀',
        '\ud83d',
        '\0',
        '\ufeff',
        '\u2028',
      ),
      fc.string({ minLength: 1 }),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((pieces) => pieces.join(''));
const texts = fc.array(text, { minLength: 1, maxLength: 5 });
const size = fc.integer({ min: 1, max: 40 });
const form = fc.constantFrom('bytes' as const, 'text' as const);
const call = fc.record({ name: fc.constant('tide'), arguments: fc.dictionary(fc.string(), text, { maxKeys: 3 }) });
const parts = fc.record({ reasoning: texts, toolCalls: fc.array(call, { maxLength: 2 }) }, { requiredKeys: [] });

const turn: fc.Arbitrary<{ endpoint: Endpoint; events: object[] }> = fc.oneof(
  fc
    .tuple(texts, parts)
    .map(([words, more]) => ({ endpoint: 'chatCompletions' as const, events: chat.turn(words, more) })),
  fc
    .tuple(texts, parts)
    .map(([words, more]) => ({ endpoint: 'responses' as const, events: responses.turn(words, more) })),
  fc
    .tuple(texts, parts)
    .map(([words, more]) => ({ endpoint: 'messages' as const, events: messages.turn(words, more) })),
  fc.base64String({ minLength: 4 }).map((image) => ({ endpoint: 'images' as const, events: images.turn(image) })),
);

/** What `parseServerSentEvents()` makes of it, in reads of `size` bytes or characters. */
async function readFrames(text: string, size: number, as: 'bytes' | 'text'): Promise<ServerSentEvent[]> {
  const reads =
    as === 'bytes'
      ? splitBytes(new TextEncoder().encode(text), size)
      : Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
          text.slice(index * size, (index + 1) * size),
        );
  return firstValueFrom(from<(Uint8Array | string)[]>(reads).pipe(parseServerSentEvents(), toArray()));
}

/** JSON's own: a lone half of a surrogate pair comes back as the same half, `undefined` as nothing. */
const asJson = (events: readonly object[]): unknown => JSON.parse(JSON.stringify(events));

describe('what toServerSentEvents emits', () => {
  it('is read back as the same events, by the specification', async () => {
    await fc.assert(
      fc.asyncProperty(turn, fc.boolean(), async ({ endpoint, events }, ids) => {
        const read = parse(await wire(from(events), { ids }));
        const ends = endpoint === 'chatCompletions' || endpoint === 'images';
        expect(read.slice(events.length)).toEqual(ends ? [{ data: '[DONE]' }] : []);
        const payloads = read.slice(0, events.length).map(({ data }) => JSON.parse(data ?? '') as { type?: string });
        expect(payloads).toEqual(asJson(events));
        expect(read.slice(0, events.length).map(({ type }) => type)).toEqual(payloads.map(({ type }) => type));
      }),
    );
  });

  it('is read back as the same events by the client, however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(turn, size, async ({ endpoint, events }, bytes) => {
        const { events: read, error } = await readBack(endpoint, await wire(from(events)), bytes);
        expect(error).toBeUndefined();
        expect(read).toEqual(asJson(events));
      }),
    );
  });

  it('is read back as the same frames by parseServerSentEvents, however bytes or text are cut', async () => {
    await fc.assert(
      fc.asyncProperty(turn, fc.boolean(), size, form, async ({ events }, ids, length, as) => {
        const frames = await firstValueFrom(from(events).pipe(toServerSentEvents({ ids }), toArray()));
        const body = frames.map(encodeServerSentEvent).join('');
        expect(await readFrames(body, length, as)).toEqual(frames);
      }),
    );
  });

  it('tells a failure so that the client raises it again, after the same events', async () => {
    const failure = fc.oneof(
      fc.constant(new TruncatedStreamError('x', { retryable: true })),
      fc.constant(new StreamTimeoutError('x', 'idle', { retryable: true })),
      fc.constant(new ConnectionError('x', { code: 'ECONNREFUSED', retryable: true })),
      text.map(
        (words) =>
          new StreamEventError(`m${words}`, {
            type: 'overloaded_error',
            code: 529,
            retryable: true,
            providerMessage: `m${words}`,
          }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(turn, failure, size, fc.nat(), async ({ endpoint, events }, failed, bytes, at) => {
        // Any part of it but the whole; an image may be all that there is.
        const sent = events.slice(0, 1 + (at % Math.max(1, events.length - 1)));
        if (sent.length === events.length) return;
        const body = await wire(
          concat(
            from(sent),
            throwError(() => failed),
          ),
          { preamble: 'passthrough' },
        );
        const { events: read, error } = await readBack(endpoint, body, bytes);
        expect(read).toEqual(asJson(sent));
        expect(error).toMatchObject({ name: 'StreamEventError', kind: 'in-band', endpoint });
        const code = failed.code ?? failed.kind;
        // The client makes one line of it.
        expect(error?.message).toContain(failed.providerMessage?.replace(/\s+/g, ' ').trim().slice(0, 100) ?? ': The ');
        expect(error?.retryable).toBe(true);
        // On Messages there is no code, and the type says what kind of failure it is.
        if (endpoint === 'messages')
          expect(error?.type).toBe(failed.type ?? (failed.kind === 'timeout' ? 'timeout_error' : 'api_error'));
        else expect(String(error?.code)).toBe(String(code));
      }),
    );
  });
});

describe('encodeServerSentEvent', () => {
  const event: fc.Arbitrary<ServerSentEvent> = fc.record(
    // Bytes cannot hold half of a surrogate pair.
    {
      data: text.map((data) => data.replace(/\p{Surrogate}/gu, '')),
      type: fc.string(),
      id: fc.string(),
      retry: fc.nat(),
    },
    { requiredKeys: ['data'] },
  );

  it('writes what parseServerSentEvents reads back, but for what the format cannot hold', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event), size, form, async (events, length, as) => {
        const held = events.map(({ data = '', type = '', id, retry }) => ({
          data: data.replace(/\r\n?/g, '\n'),
          ...(type !== '' && { type }),
          ...(id !== undefined && { id }),
          ...(retry !== undefined && { retry }),
        }));
        expect(await readFrames(events.map(encodeServerSentEvent).join(''), length, as)).toEqual(held);
      }),
    );
  });
});
