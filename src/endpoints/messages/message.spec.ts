import type { MessageObject } from './items.js';
import { messagesMessage } from './message.js';

/** All snapshots of events that are given as they would stand on the wire. */
function snapshots(...events: object[]): MessageObject[] {
  const seen: MessageObject[] = [];
  const reader = messagesMessage({ snapshot: (message) => seen.push(message as MessageObject) });
  for (const event of events) reader.next(event as never);
  reader.end?.();
  return seen;
}

const last = (...events: object[]): MessageObject => snapshots(...events).at(-1) as MessageObject;
const contentOf = (...events: object[]): readonly unknown[] => last(begin(), ...events).content;

const begin = (message: object = {}): object => ({
  type: 'message_start',
  message: { id: 'm', content: [], ...message },
});
const open = (index: unknown, content_block: object): object => ({ type: 'content_block_start', index, content_block });
const add = (index: unknown, type: string, fields: object): object => ({
  type: 'content_block_delta',
  index,
  delta: { type, ...fields },
});
const close = (index: unknown): object => ({ type: 'content_block_stop', index });
const json = (index: number, partial_json: string): object => add(index, 'input_json_delta', { partial_json });

describe('messagesMessage', () => {
  describe('builds', () => {
    it('text after what its block began with', () => {
      expect(contentOf(open(0, { type: 'text', text: 'He' }), add(0, 'text_delta', { text: 'y' }), close(0))).toEqual([
        { type: 'text', text: 'Hey' },
      ]);
    });

    it('one block after the other where a server gives all of them the same index', () => {
      const call = { type: 'tool_use', id: 't', name: 'tide', input: {} };
      const first = [open(0, { type: 'text', text: '' }), add(0, 'text_delta', { text: 'a' }), close(0)];

      expect(contentOf(...first, open(0, call), json(0, '{"p":1}'), close(0))).toEqual([
        { type: 'text', text: 'a' },
        { ...call, input: { p: 1 } },
      ]);
      expect(contentOf(...first, open(0, { type: 'text', text: 'a' }), close(0))).toHaveLength(2);
    });

    it('blocks that begin without their empty text', () => {
      expect(
        contentOf(
          open(0, { type: 'thinking' }),
          open(1, { type: 'text' }),
          add(0, 'thinking_delta', { thinking: 'hm' }),
          add(1, 'text_delta', { text: 'ok' }),
        ),
      ).toEqual([
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'ok' },
      ]);
    });

    it('text that is empty where its block began without it', () => {
      expect(contentOf(open(0, { type: 'thinking' }), open(1, { type: 'text' }))).toEqual([
        { type: 'thinking', thinking: '' },
        { type: 'text', text: '' },
      ]);
    });

    it('thinking with its signature, whole, repeated or in pieces', () => {
      const sign = (signature: string): object => add(0, 'signature_delta', { signature });
      const thinking = { type: 'thinking', thinking: '', signature: '' };

      expect(contentOf(open(0, thinking), sign('SIG'))).toEqual([{ ...thinking, signature: 'SIG' }]);
      expect(contentOf(open(0, thinking), sign('SIG'), sign('SIG'))).toEqual([{ ...thinking, signature: 'SIG' }]);
      expect(contentOf(open(0, thinking), sign('SIG-'), sign('2'))).toEqual([{ ...thinking, signature: 'SIG-2' }]);
    });

    it('citations one after another', () => {
      expect(
        contentOf(
          open(0, { type: 'text', text: 'a', citations: null }),
          add(0, 'citations_delta', { citation: { cited_text: '1' } }),
          add(0, 'citations_delta', { citation: { cited_text: '2' } }),
          add(0, 'citations_delta', { citation: null }),
        ),
      ).toEqual([{ type: 'text', text: 'a', citations: [{ cited_text: '1' }, { cited_text: '2' }] }]);
    });

    it('a compaction as it was said last, null included', () => {
      const compaction = { type: 'compaction', content: null, encrypted_content: null };
      const compact = (content: string | null): object => add(0, 'compaction_delta', { content });

      expect(contentOf(open(0, compaction), compact('all'))).toEqual([{ ...compaction, content: 'all' }]);
      expect(contentOf(open(0, { ...compaction, content: 'x' }), compact(null))).toEqual([compaction]);
    });

    it('blocks that come whole', () => {
      const result = { type: 'web_search_tool_result', tool_use_id: 't', content: [] };

      expect(contentOf(open(0, result), close(0), open(1, { type: 'redacted_thinking', data: 'x' }))).toEqual([
        result,
        { type: 'redacted_thinking', data: 'x' },
      ]);
    });

    it('blocks in the order of their indexes, which may leave numbers out', () => {
      expect(
        contentOf(
          open(7, { type: 'text', text: 'c' }),
          open(2, { type: 'text', text: 'a' }),
          open(4, { type: 'text', text: 'b' }),
          add(4, 'text_delta', { text: '!' }),
        ),
      ).toMatchObject([{ text: 'a' }, { text: 'b!' }, { text: 'c' }]);
    });

    it('text that no block was opened for', () => {
      expect(last(add(0, 'text_delta', { text: 'no start' }), close(0), json(4, '{"a":1}'))).toEqual({
        type: 'message',
        role: 'assistant',
        content: [{ type: 'text', text: 'no start', citations: null }],
        stop_reason: null,
      });
    });

    it('whatever no block was opened for, if it says what it is', () => {
      const citation = { cited_text: '1' };

      expect(
        contentOf(
          add(0, 'thinking_delta', { thinking: 'hm' }),
          add(1, 'citations_delta', { citation }),
          add(2, 'compaction_delta', { content: 'all' }),
          add(3, 'signature_delta', { signature: 'SIG' }),
        ),
      ).toEqual([
        { type: 'thinking', thinking: 'hm', signature: '' },
        { type: 'text', text: '', citations: [citation] },
        { type: 'compaction', content: 'all' },
        { type: 'thinking', thinking: '', signature: 'SIG' },
      ]);
    });

    it('what says no index as part of the last block', () => {
      expect(
        contentOf(open(3, { type: 'text', text: 'a' }), add(undefined, 'text_delta', { text: 'b' }), close(undefined)),
      ).toEqual([{ type: 'text', text: 'ab' }]);
      expect(contentOf(add(undefined, 'text_delta', { text: 'b' }))).toMatchObject([{ text: 'b' }]);
      expect(contentOf(open(undefined, { type: 'text' }), open(undefined, { type: 'thinking' }))).toHaveLength(2);
    });

    it('the model that a fallback names', () => {
      const fallback = { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } };

      expect(last(begin({ model: 'a' }), open(0, fallback)).model).toBe('b');
    });
  });

  describe('parses the input of a call', () => {
    const call = { type: 'tool_use', id: 't', name: 'tide', input: {} };
    const inputOf = (...events: object[]): unknown => (contentOf(...events)[0] as { input: unknown }).input;

    it('at the end of its block', () => {
      const seen = snapshots(begin(), open(0, call), json(0, ''), json(0, '{"p":'), json(0, '1}'), close(0));

      expect(seen.map(({ content }) => (content[0] as { input?: unknown } | undefined)?.input)).toEqual([
        undefined,
        {},
        { p: 1 },
      ]);
    });

    it('of calls whose pieces interleave', () => {
      const events = [json(0, '{"p":'), json(1, '{"p":'), json(0, '1}'), json(1, '2}'), close(1), close(0)];

      expect(contentOf(open(0, call), open(1, call), ...events)).toMatchObject([
        { input: { p: 1 } },
        { input: { p: 2 } },
      ]);
    });

    it('as the block began with it, where no pieces come', () => {
      expect(inputOf(open(0, { ...call, input: { p: 1 } }), json(0, ''), close(0))).toEqual({ p: 1 });
    });

    it('as the pieces say, where both come', () => {
      expect(inputOf(open(0, { ...call, input: { p: 1 } }), json(0, '{"p":2}'), close(0))).toEqual({ p: 2 });
    });

    it('as an empty object where there is none', () => {
      expect(inputOf(open(0, { type: 'tool_use', id: 't', name: 'now' }), close(0))).toEqual({});
    });

    it('and leaves what is no JSON as it is', () => {
      expect(inputOf(open(0, call), json(0, '{"p":'), close(0))).toBe('{"p":');
    });

    it('at the end of the message or the stream, where the block was not ended', () => {
      expect(inputOf(open(0, call), json(0, '{"p":1}'), { type: 'message_stop' })).toEqual({ p: 1 });
      expect(inputOf(open(0, call), json(0, '{"p":1}'))).toEqual({ p: 1 });
    });
  });

  describe('where the message begins with content', () => {
    const text = { type: 'text', text: 'a' };
    const call = { type: 'tool_use', id: 't', name: 'tide', input: { p: 1 } };

    it('counts it in the indexes that follow', () => {
      expect(last(begin({ content: [text] }), open(1, call)).content).toEqual([text, call]);
    });

    it('adds what follows to it, where indexes begin anew', () => {
      const message = last(begin({ content: [call] }), open(0, text), add(0, 'text_delta', { text: 'b' }));

      expect(message.content).toEqual([call, { type: 'text', text: 'ab' }]);
    });

    it('takes a call that is announced again for the same one', () => {
      expect(last(begin({ content: [call] }), open(0, { ...call, input: {} }), json(0, '{"p":2}')).content).toEqual([
        { ...call, input: { p: 2 } },
      ]);
    });
  });

  describe('reads of the end', () => {
    it('the stop reason, and whatever comes with it; null erases nothing', () => {
      const message = last(
        begin({ stop_sequence: null }),
        { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details: { type: 'refusal' } } },
        { type: 'message_delta', delta: { stop_reason: null }, context_management: { applied_edits: [{ type: 'x' }] } },
      );

      expect(message).toMatchObject({
        stop_reason: 'refusal',
        stop_sequence: null,
        stop_details: { type: 'refusal' },
        context_management: { applied_edits: [{ type: 'x' }] },
      });
    });

    it('usage as the last word for each number', () => {
      const usage = (fields: object): object => ({ type: 'message_delta', delta: {}, usage: fields });
      const message = last(
        begin({ usage: { input_tokens: 9, output_tokens: 1, cache_read_input_tokens: 3 } }),
        usage({ output_tokens: 5, input_tokens: null }),
        usage({ output_tokens: 8, input_tokens: 0, server_tool_use: { web_search_requests: 1 } }),
      );

      expect(message.usage).toEqual({
        input_tokens: 9,
        output_tokens: 8,
        cache_read_input_tokens: 3,
        server_tool_use: { web_search_requests: 1 },
      });
    });

    it('no content and no type', () => {
      const delta = { content: 'x', type: 'y', usage: 'z', stop_reason: 'end_turn' };

      expect(last(begin(), { type: 'message_delta', delta })).toEqual({
        id: 'm',
        type: 'message',
        role: 'assistant',
        content: [],
        stop_reason: 'end_turn',
      });
    });
  });

  it('says nothing where nothing changed', () => {
    const stop = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } };
    const events = [begin(), open(0, { type: 'text', text: '' }), add(0, 'text_delta', { text: '' }), stop];

    expect(snapshots(...events)).toHaveLength(3);
    expect(
      snapshots(...events, stop, close(0), { type: 'ping' }, add(0, 'new_delta', {}), { type: 'message_stop' }),
    ).toHaveLength(3);
  });

  it('keeps the identity of blocks that did not change', () => {
    const seen = snapshots(
      begin({ usage: { input_tokens: 1 } }),
      open(0, { type: 'text', text: 'a' }),
      open(1, { type: 'text', text: 'b' }),
      add(1, 'text_delta', { text: 'c' }),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    );

    expect(seen[3]?.content[0]).toBe(seen[1]?.content[0]);
    expect(seen[3]?.content[1]).not.toBe(seen[2]?.content[1]);
    expect(seen[4]?.content).toBe(seen[3]?.content);
    expect(seen[4]?.usage).toBe(seen[0]?.usage);
    expect(seen[2]?.content[1]).toEqual({ type: 'text', text: 'b' });
  });

  it.each([
    [{ type: 'message_start', message: 'x' }],
    [{ type: 'message_start', message: { content: 'x', usage: 'y' } }],
    [{ type: 'message_start', message: { content: [null, 'x'] } }],
    [{ type: 'content_block_start' }],
    [{ type: 'content_block_start', index: 'x', content_block: 3 }],
    [{ type: 'content_block_delta', index: {}, delta: { type: 'text_delta', text: 5 } }],
    [{ type: 'content_block_delta', index: -1, delta: null }],
    [{ type: 'content_block_stop', index: 1e9 }],
    [{ type: 'message_delta', delta: 'x', usage: 'y' }],
    [JSON.parse('{"type":"message_delta","delta":{"__proto__":{"a":1}},"__proto__":{"b":1}}') as object],
  ])('does not throw, and keeps its shape, on %j', (event) => {
    const message = last(event, open(90, { type: 'text', text: 'ok' }));

    expect(message.content.at(-1)).toEqual({ type: 'text', text: 'ok' });
    expect(Object.getPrototypeOf(message)).toBe(Object.prototype);
  });
});
