import type { ChatCompletion, ChatCompletionMessage } from './completion.js';
import { chatMessage } from './message.js';

/** All snapshots of chunks that are given as they would stand on the wire. */
function snapshots(...chunks: object[]): ChatCompletion[] {
  const seen: ChatCompletion[] = [];
  const reader = chatMessage({ snapshot: (message) => seen.push(message as ChatCompletion) });
  for (const chunk of chunks) reader.next(chunk);
  reader.end?.();
  return seen;
}

const last = (...chunks: object[]): ChatCompletion => snapshots(...chunks).at(-1) as ChatCompletion;
const delta = (fields: object, choice: object = {}): object => ({ choices: [{ index: 0, delta: fields, ...choice }] });
const messageOf = (...deltas: object[]): ChatCompletionMessage =>
  last(...deltas.map((fields) => delta(fields))).choices[0]?.message as ChatCompletionMessage;

describe('chatMessage', () => {
  describe('reads of the answer as a whole', () => {
    it('the first id and time, which empty ones do not replace (Azure)', () => {
      const chunks = [
        { id: '', model: '', created: 0, choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
        { id: 'a', model: 'm', created: 5, choices: [] },
        { id: 'b', model: '', created: 6, choices: [] },
      ];

      expect(last(...chunks)).toMatchObject({
        id: 'a',
        model: 'm',
        created: 5,
        prompt_filter_results: [{ prompt_index: 0 }],
      });
    });

    it('usage as the last word for each number, wherever it stands', () => {
      const chunks = [
        { choices: [], usage: { prompt_tokens: 3, completion_tokens: 1 } },
        { choices: [], usage: null },
        { choices: [], usage: { completion_tokens: 4 } },
        { choices: [], usage: {} },
        { choices: [], x_groq: { id: 'g', usage: { total_tokens: 7 } } },
        { choices: [], x_groq: { usage: { dram_cached_tokens: 1 } } },
      ];

      expect(last(...chunks)).toMatchObject({
        usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
        x_groq: { id: 'g' },
      });
    });

    it('lists that come with every chunk (Perplexity) once, as the same object', () => {
      const seen = snapshots(
        { citations: ['a', 'b'], ...delta({ content: 'x' }) },
        { citations: ['a', 'b'], ...delta({ content: 'y' }) },
        { citations: ['a', 'b', 'c'], ...delta({ content: 'z' }) },
      );

      expect(seen[1]?.citations).toBe(seen[0]?.citations);
      expect(seen[2]?.citations).toEqual(['a', 'b', 'c']);
    });

    it('fields that it does not know, but not padding', () => {
      expect(last({ choices: [], obfuscation: 'x', object: 'chat.completion.chunk', lucky_number: 7 })).toEqual({
        object: 'chat.completion',
        choices: [],
        lucky_number: 7,
      });
    });
  });

  describe('reads of a choice', () => {
    it('the first finish reason, and the upstream word beside it', () => {
      const { choices } = last(
        delta({}, { finish_reason: '' }),
        delta({}, { finish_reason: 'stop', native_finish_reason: 'end' }),
        delta({}, { finish_reason: 'length' }),
      );

      expect(choices[0]).toMatchObject({ finish_reason: 'stop', native_finish_reason: 'end' });
    });

    it('text that comes after the finish reason', () => {
      const { choices } = last(delta({ content: 'a' }, { finish_reason: 'stop' }), delta({ content: 'b' }));

      expect(choices[0]?.message.content).toBe('ab');
    });

    it('choices without a number as the first one', () => {
      expect(last({ choices: [{ delta: { content: 'a' } }] }).choices).toMatchObject([{ index: 0 }]);
    });

    it('a whole message that grows where there are no deltas, and ignores it beside them', () => {
      const whole = (content: string, choice: object = {}): object => ({
        choices: [{ message: { role: 'assistant', content, tool_calls: [] }, ...choice }],
      });

      expect(last(whole('a'), whole('all', { delta: { role: 'assistant', content: '' } })).choices[0]?.message).toEqual(
        {
          role: 'assistant',
          content: 'all',
          tool_calls: [],
        },
      );
      expect(last(delta({ content: 'a' }), whole('all')).choices[0]?.message.content).toBe('a');
      expect(last(whole('a', { delta: { content: 'a' } })).choices[0]?.message.content).toBe('a');
    });

    it('no more choices than a request can ask for, however a server counts', () => {
      const chunks = Array.from({ length: 1000 }, (_, index) => ({ choices: [{ index, delta: { content: 'a' } }] }));

      expect(last(...chunks).choices).toHaveLength(256);
    });

    it('that there are no log probabilities', () => {
      expect(last(delta({}, { logprobs: null })).choices[0]).toHaveProperty('logprobs', null);
    });

    it('log probabilities at its finish, or at the end', () => {
      const logprobs = (token: string) => ({ logprobs: { content: [{ token, logprob: -1 }], refusal: null } });
      const finished = snapshots(
        delta({ content: 'a' }, logprobs('a')),
        delta({ content: 'b' }, logprobs('b')),
        delta({}, { finish_reason: 'stop', ...logprobs('c') }),
        delta({}, logprobs('d')),
      );
      const tokens = finished.map(({ choices }) => choices[0]?.logprobs?.content?.map(({ token }) => token).join(''));

      expect(tokens).toEqual([undefined, undefined, 'abc', 'abcd']);
    });
  });

  describe('joins', () => {
    it('text, reasoning and refusals, each under its own name', () => {
      expect(
        messageOf(
          { role: 'assistant', content: '', refusal: null, reasoning_content: '' },
          { reasoning: 'h', reasoning_content: 'H' },
          { reasoning: 'm', reasoning_content: 'M', content: null },
          { content: 'a', refusal: false },
          { content: 'b', refusal: 'no' },
          { refusal: ' way' },
        ),
      ).toEqual({
        role: 'assistant',
        content: 'ab',
        reasoning: 'hm',
        reasoning_content: 'HM',
        refusal: 'no way',
      });
    });

    it('nothing to what is empty', () => {
      expect(messageOf({ content: '', reasoning_content: '', refusal: null, annotations: [] })).toEqual({
        role: 'assistant',
        content: null,
      });
      expect(messageOf({ audio: { expires_at: 9, data: '' } }).audio).toEqual({ expires_at: 9 });
    });

    it('no refusal to what is none, and no role to what is no word', () => {
      expect(messageOf({ role: 5, refusal: false })).toEqual({ role: 'assistant', content: null, refusal: null });
      expect(messageOf({ role: 'model', refusal: 'no' }, { refusal: false })).toEqual({
        role: 'model',
        content: null,
        refusal: 'no',
      });
    });

    it('parts (Mistral) with text of both forms', () => {
      const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });

      expect(
        messageOf(
          { content: [thinking('I ')] },
          { content: [thinking('think')] },
          { content: 'So' },
          {
            content: [
              { type: 'text', text: ' it is' },
              { type: 'reference', reference_ids: [1] },
            ],
          },
          { content: '.' },
        ).content,
      ).toEqual([
        thinking('I think'),
        { type: 'text', text: 'So it is' },
        { type: 'reference', reference_ids: [1] },
        { type: 'text', text: '.' },
      ]);
    });

    it('parts of text alone as text', () => {
      expect(messageOf({ content: 'a' }, { content: [{ type: 'text', text: 'b' }] }).content).toBe('ab');
    });

    it('reasoning details by type and index, with the last signature', () => {
      const piece = { type: 'reasoning.text', index: 0, format: 'f' };

      expect(
        messageOf(
          { reasoning_details: [{ ...piece, text: 'a', signature: null }] },
          {
            reasoning_details: [
              { type: 'reasoning.summary', index: 0, summary: 's' },
              { ...piece, text: 'b' },
            ],
          },
          { reasoning_details: [{ type: 'reasoning.text', index: 0, signature: 'sig', id: 'r' }] },
          { reasoning_details: [{ type: 'reasoning.encrypted', index: 1, data: 'x' }] },
          { reasoning_details: [{ ...piece, text: null, signature: '' }] },
        ).reasoning_details,
      ).toEqual([
        { ...piece, text: 'ab', signature: 'sig', id: 'r' },
        { type: 'reasoning.summary', index: 0, summary: 's' },
        { type: 'reasoning.encrypted', index: 1, data: 'x' },
      ]);
    });

    it('reasoning details without an index to the one before, until that is signed', () => {
      const piece = (fields: object) => ({ reasoning_details: [{ type: 'reasoning.text', ...fields }] });

      expect(
        messageOf(piece({ text: 'a' }), piece({ text: 'b' }), piece({ signature: '1' }), piece({ text: 'c' }))
          .reasoning_details,
      ).toEqual([
        { type: 'reasoning.text', text: 'ab', signature: '1' },
        { type: 'reasoning.text', text: 'c' },
      ]);
    });

    it('tool calls as toolCalls() does, with what has to be sent back beside them', () => {
      expect(
        messageOf(
          { tool_calls: [] },
          { tool_calls: [{ index: 0, id: 'a', function: { name: 'tide', arguments: '{}' } }] },
          // Another call under the same index.
          { tool_calls: [{ index: 0, id: 'b', function: { name: 'wind', arguments: { p: 1 } } }] },
          { tool_calls: [{ id: 'b', extra_content: { google: { thought_signature: 's' } } }] },
          { tool_calls: [{ index: 2, id: 'c', type: 'custom', custom: { name: 'say', input: 'hi' } }] },
        ).tool_calls,
      ).toEqual([
        { id: 'a', type: 'function', function: { name: 'tide', arguments: '{}' } },
        {
          id: 'b',
          type: 'function',
          function: { name: 'wind', arguments: '{"p":1}' },
          extra_content: { google: { thought_signature: 's' } },
        },
        { id: 'c', type: 'custom', custom: { name: 'say', input: 'hi' } },
      ]);
    });

    it('the older form of a call', () => {
      expect(
        messageOf({ function_call: { name: 'tide', arguments: '' } }, { function_call: { arguments: '{}' } })
          .function_call,
      ).toEqual({ name: 'tide', arguments: '{}' });
    });

    it('audio, padded pieces too, into one base64 text', () => {
      const { audio } = messageOf(
        { audio: { id: 'x', data: btoa('a') } },
        { audio: { data: btoa('bc'), transcript: 'He' } },
        { audio: { data: btoa('d'), transcript: 'y' } },
        { audio: { expires_at: 9 } },
      );

      expect(audio).toEqual({ id: 'x', data: btoa('abcd'), transcript: 'Hey', expires_at: 9 });
    });

    it('lists of annotations and images', () => {
      const note = (url: string) => ({ annotations: [{ type: 'url_citation', url_citation: { url } }] });

      expect(messageOf(note('a'), note('b'), { annotations: [] }).annotations).toHaveLength(2);
    });

    it('server-run tools (Groq) by their index', () => {
      const tool = (fields: object) => ({ executed_tools: [{ index: 0, ...fields }] });

      expect(messageOf(tool({ type: 'search' }), tool({ output: 'found' })).executed_tools).toEqual([
        { index: 0, type: 'search', output: 'found' },
      ]);
    });
  });

  it('keeps the identity of all that did not change', () => {
    const [first, second] = snapshots(
      {
        id: 'x',
        choices: [
          { index: 0, delta: { content: 'a', annotations: [{ type: 'file' }] } },
          { index: 1, delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] } },
        ],
      },
      {
        id: 'x',
        choices: [
          { index: 0, delta: { content: 'b' } },
          { index: 1, delta: { tool_calls: [{ index: 1, id: 'b', function: { name: 'g', arguments: '' } }] } },
        ],
      },
    );

    expect(second).not.toBe(first);
    expect(second?.choices[0]?.message.annotations).toBe(first?.choices[0]?.message.annotations);
    expect(second?.choices[1]?.message.tool_calls?.[0]).toBe(first?.choices[1]?.message.tool_calls?.[0]);
    expect(first?.choices[0]?.message.content).toBe('a');
  });

  it('keeps the identity of a choice that an event did not touch', () => {
    const [, both, again] = snapshots(
      { choices: [{ index: 0, delta: { content: 'a' } }] },
      { choices: [{ index: 1, delta: { content: 'b' } }] },
      { choices: [{ index: 1, delta: { content: 'c' } }] },
    );

    expect(again?.choices[0]).toBe(both?.choices[0]);
  });

  it.each([
    [{ choices: 'x' }],
    [{ choices: [null, 3, { delta: 'x' }, { index: 'x', delta: { content: 5, tool_calls: {}, audio: 'x' } }] }],
    [{ usage: 'x', x_groq: 3, id: {}, created: 'x' }],
    [delta({ reasoning_details: [null, 'x', {}], executed_tools: [null], function_call: 'x', annotations: 'x' })],
    [JSON.parse('{"__proto__":{"a":1},"choices":[{"__proto__":{"b":1},"delta":{"__proto__":{"c":1}}}]}') as object],
    [JSON.parse('{"choices":[{"logprobs":{"__proto__":[1]},"delta":{"constructor":"x"}}]}') as object],
  ])('does not throw, and keeps its shape, on %j', (chunk) => {
    const completion = last(chunk, delta({ content: 'ok' }));

    expect(Object.getPrototypeOf(completion)).toBe(Object.prototype);
    expect(completion.choices.find(({ index }) => index === 0)?.message.content).toContain('ok');
    expect(Object.getPrototypeOf(completion.choices[0]?.message)).toBe(Object.prototype);
    expect(({} as { a?: number; b?: number; c?: number }).a).toBeUndefined();
  });
});
