import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { encodeServerSentEvent } from './encode.js';
import type { ServerSentEvent } from './server-sent-event.js';

/** What a reader by the specification makes of `text`. */
function parse(text: string): { events: object[]; comments: string[]; retries: number[] } {
  const events: object[] = [];
  const comments: string[] = [];
  const retries: number[] = [];
  const parser = createParser({
    onEvent: ({ event, id, data }) =>
      events.push({ ...(event !== undefined && { type: event }), ...(id !== undefined && { id }), data }),
    onComment: (comment) => comments.push(comment),
    onRetry: (ms) => retries.push(ms),
  });
  parser.feed(text);
  return { events, comments, retries };
}

describe('encodeServerSentEvent', () => {
  it('writes name, id, retry and data on lines of their own, and a blank line', () => {
    expect(encodeServerSentEvent({ type: 'ping', id: '7', retry: 1500.4, data: '{"a":1}' })).toBe(
      'event: ping\nid: 7\nretry: 1500\ndata: {"a":1}\n\n',
    );
  });

  it('writes data alone as data alone', () => {
    expect(encodeServerSentEvent({ data: '[DONE]' })).toBe('data: [DONE]\n\n');
  });

  it('splits data at every kind of line end', () => {
    expect(encodeServerSentEvent({ data: 'a\nb\r\nc\rd\n' })).toBe('data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n');
  });

  it('keeps empty data, and the spaces that data begins with', () => {
    expect(encodeServerSentEvent({ data: '' })).toBe('data: \n\n');
    expect(parse(encodeServerSentEvent({ data: '  a' })).events).toEqual([{ data: '  a' }]);
  });

  it('writes a comment on lines that readers skip', () => {
    expect(encodeServerSentEvent({ comment: 'still\nhere' })).toBe(': still\n: here\n\n');
    expect(parse(': still\n: here\n\n')).toEqual({ events: [], comments: ['still', 'here'], retries: [] });
    expect(encodeServerSentEvent({ comment: '' })).toBe(': \n\n');
  });

  it('lets neither a name nor an id begin a line of its own', () => {
    expect(encodeServerSentEvent({ type: 'a\ndata: b', id: 'c\r\nretry: 1', data: 'd' })).toBe(
      'event: adata: b\nid: cretry: 1\ndata: d\n\n',
    );
  });

  it('leaves out what readers would not take', () => {
    expect(encodeServerSentEvent({ type: '', id: 'a\0', retry: -1, data: 'b' })).toBe('data: b\n\n');
    expect(encodeServerSentEvent({ retry: NaN, data: 'b' })).toBe('data: b\n\n');
    expect(encodeServerSentEvent({ retry: Infinity, data: 'b' })).toBe('data: b\n\n');
  });

  it('keeps an empty id, which clears the last one', () => {
    expect(encodeServerSentEvent({ id: '', data: 'b' })).toBe('id: \ndata: b\n\n');
  });

  it('is read back the same, whatever it holds', () => {
    const noLineEnd = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[\r\n\0]/.test(text));
    const piece = fc.oneof(fc.constantFrom('\n', '\r', '\r\n', ' ', ':', 'data: ', '€', '😀'), fc.string());
    const event = fc.record(
      { type: noLineEnd, id: noLineEnd, data: fc.array(piece).map((pieces) => pieces.join('')) },
      { requiredKeys: ['data'] },
    );
    fc.assert(
      fc.property(fc.array(event), (events: ServerSentEvent[]) => {
        const text = events.map(encodeServerSentEvent).join('');
        expect(parse(text).events).toEqual(
          events.map((sent) => ({ ...sent, data: sent.data?.replace(/\r\n?/g, '\n') })),
        );
      }),
    );
  });
});
