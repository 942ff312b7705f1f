import { added, done, end, event, last, message, outputOf, snapshots, text } from '../../spec/support/response-wire.js';

describe('responsesMessage', () => {
  describe('tells items apart', () => {
    it('by index, with other ids in each event', () => {
      expect(outputOf(added(0, message()), text('a', { item_id: 'x' }), text('b', { item_id: 'y' }))).toEqual([
        message('ab'),
      ]);
    });

    it('by id, where there is no index', () => {
      const a = { output_index: undefined, item_id: 'a' };
      const b = { output_index: undefined, item_id: 'b' };

      expect(outputOf(text('1', a), text('2', b), text('3', a))).toMatchObject([
        { id: 'a', content: [{ text: '13' }] },
        { id: 'b', content: [{ text: '2' }] },
      ]);
    });

    it('by their order, where there is neither', () => {
      const nowhere = { output_index: undefined, item_id: undefined };

      expect(outputOf(added(0, message()), text('a', nowhere), text('b', nowhere))).toEqual([message('ab')]);
    });

    it('whose index is always 0', () => {
      const other = { ...message('b'), id: 'n' };

      expect(outputOf(done(0, message('a')), added(0, { ...other, content: [] }), done(0, other))).toMatchObject([
        { id: 'm' },
        { id: 'n', content: [{ text: 'b' }] },
      ]);
    });

    it('of which the later goes on, where their index is the same', () => {
      const other = { ...message(), id: 'n' };

      expect(outputOf(done(0, message('a')), added(0, other), text('b', { item_id: 'x' }))).toMatchObject([
        { id: 'm', content: [{ text: 'a' }] },
        { id: 'n', content: [{ text: 'b' }] },
      ]);
    });

    it('but for one that is announced again under a new id', () => {
      expect(outputOf(added(0, message()), text('a'), added(0, { ...message(), id: 'n' }))).toEqual([
        { ...message('a'), id: 'n' },
      ]);
    });

    it('and lists them by their index', () => {
      const items = [2, 0, 1].map((index) => added(index, { ...message(String(index)), id: `m${index}` }));

      expect(outputOf(...items)).toMatchObject([{ id: 'm0' }, { id: 'm1' }, { id: 'm2' }]);
    });
  });

  describe('at the end', () => {
    const call = { id: 'f', type: 'function_call', call_id: 'c', name: 'tide', arguments: '{}' };

    it('is the final response, if that has all', () => {
      const response = {
        id: 'r',
        status: 'completed',
        model: 'm',
        output: [message('Hey')],
        usage: { input_tokens: 1 },
      };

      expect(
        last(event('created', { response: { id: 'r', output: [] } }), text('Hey'), event('completed', { response })),
      ).toEqual({ object: 'response', ...response, output: [{ ...message('Hey'), status: 'completed' }] });
    });

    it('keeps what streamed of items that the response does not list, in their place', () => {
      const other = { ...message('b'), id: 'n' };
      const events = [added(0, { id: 'r', type: 'reasoning' }), added(1, other), added(2, call)];

      expect(outputOf(...events, end('completed', { output: [other] }))).toMatchObject([
        { id: 'r' },
        { id: 'n' },
        { id: 'f' },
      ]);
    });

    it('adds items that only the response lists, in their place', () => {
      expect(
        outputOf(text('a'), end('completed', { output: [{ id: 'r', type: 'reasoning' }, message('a'), call] })),
      ).toMatchObject([{ id: 'r' }, { id: 'm' }, { id: 'f' }]);
    });

    it('takes items for the same by id, by call, else by type', () => {
      const listed = [message('xyz'), { ...call, id: 'g' }, { id: 's', type: 'reasoning', summary: ['s'] }];
      const streamed = [added(0, { id: 'r', type: 'reasoning' }), added(1, call), added(2, message('x'))];

      expect(outputOf(...streamed, end('completed', { output: listed }))).toMatchObject([
        { id: 'm', content: [{ text: 'xyz' }] },
        { id: 'g', call_id: 'c' },
        { id: 's', summary: ['s'] },
      ]);
    });

    it('lists an item twice if the response does', () => {
      expect(outputOf(text('a'), end('completed', { output: [message('a'), message('a')] }))).toHaveLength(2);
    });

    it('has of each item the richer, with its final status', () => {
      const poorer = { ...message('He'), status: 'incomplete' };

      expect(outputOf(text('Hello'), end('incomplete', { output: [poorer] }))).toEqual([
        { ...message('Hello'), status: 'incomplete' },
      ]);
      expect(outputOf(text('He'), end('incomplete', { output: [{ ...message('Hello') }] }))).toEqual([
        message('Hello'),
      ]);
    });

    it('keeps a number that a null follows, and the words of a failure', () => {
      const response = { usage: { output_tokens: 3 }, output: [] };
      const error = { code: 'server_error', message: 'no' };

      expect(last(event('in_progress', { response }), text('a'), end('failed', { usage: null, error }))).toEqual({
        object: 'response',
        status: 'failed',
        usage: { output_tokens: 3 },
        error,
        output: [message('a')],
      });
    });

    it('is not disturbed by a status event that lists less than what streamed', () => {
      expect(outputOf(text('a'), event('in_progress', { response: { output: [message('')] } }))).toEqual([
        message('a'),
      ]);
    });
  });

  it('says nothing where nothing changed', () => {
    const created = event('created', { response: { id: 'r', status: 'in_progress', output: [], tools: [{ a: 1 }] } });
    const silent = [
      event('in_progress', { response: { id: 'r', status: 'in_progress', output: [], tools: [{ a: 1 }] } }),
      { type: 'keepalive' },
      event('progress', { percent: 3, response: { id: 'x' } }),
      event('audio.delta', { delta: 'x' }),
      event('output_item.added', { output_index: 0, item: null }),
    ];

    expect(snapshots(created, ...silent)).toHaveLength(1);
  });

  it('keeps the identity of all that did not change', () => {
    const seen = snapshots(
      event('created', { response: { id: 'r', tools: [{ name: 'a' }], output: [] } }),
      added(0, { id: 'r', type: 'reasoning', summary: [{ type: 'summary_text', text: 's' }] }),
      text('a', { output_index: 1 }),
      text('b', { output_index: 1, content_index: 1 }),
      text('c', { output_index: 1, content_index: 1 }),
      end('completed', { tools: [{ name: 'a' }], output: [] }),
    ) as unknown as { tools: unknown; output: { content: unknown[] }[] }[];

    expect(seen[4]?.output[0]).toBe(seen[1]?.output[0]);
    expect(seen[4]?.output[1]?.content[0]).toBe(seen[2]?.output[1]?.content[0]);
    expect(seen[4]?.output[1]?.content[1]).not.toBe(seen[3]?.output[1]?.content[1]);
    expect(seen[5]?.tools).toBe(seen[0]?.tools);
    expect(seen[5]?.output[1]?.content).toBe(seen[4]?.output[1]?.content);
  });

  it('does not follow a hostile depth', () => {
    const deep = (): unknown => JSON.parse('[{"a":'.repeat(50_000) + '1' + '}]'.repeat(50_000));
    const item = (): object => ({ ...message('a'), deep: deep() });

    expect(() => last(added(0, item()), end('completed', { output: [item()], deep: deep() }))).not.toThrow();
  });

  it.each([
    [event('created', { response: 'x' })],
    [event('completed', { response: { output: 'x', usage: 3 } })],
    [event('completed', { response: { output: [null, 3, {}] } })],
    [event('output_item.added', { output_index: 'x', item: { type: 'message', content: 'x' } })],
    [event('output_item.done', { item: { type: 5 } })],
    [event('content_part.added', { part: null })],
    [event('content_part.done', { output_index: 5, part: 'x' })],
    [event('output_text.delta', { delta: { text: 5 }, logprobs: 'x' })],
    [event('shell_call_command.delta', { command_index: 1e9, delta: 'x' })],
    [event('shell_call_output_content.done', { output: 'x' })],
    [event('constructor.delta', { delta: 'x' })],
    [event('__proto__.delta', { delta: 'x' })],
    [JSON.parse('{"type":"response.output_item.added","item":{"type":"x","__proto__":{"a":1}}}') as object],
  ])('does not throw, and keeps its shape, on %j', (broken) => {
    const response = last(broken, text('ok', { output_index: 90, item_id: 'ok' }));

    expect(response.output.at(-1)).toMatchObject({ content: [{ text: 'ok' }] });
    expect(Object.getPrototypeOf(response)).toBe(Object.prototype);
    expect(response.output.every(({ type }) => typeof type === 'string')).toBe(true);
    expect(response.output.every((item) => Object.getPrototypeOf(item) === Object.prototype)).toBe(true);
  });
});
