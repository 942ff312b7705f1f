import { added, done, end, event, last, message, outputOf, snapshots, text } from '../../spec/support/response-wire.js';

describe('responsesMessage', () => {
  describe('builds a message', () => {
    it('from parts that are opened, grow and are closed', () => {
      const part = { output_index: 0, item_id: 'm', content_index: 1 };

      expect(
        outputOf(
          added(0, message()),
          text('He'),
          text('y'),
          event('content_part.added', { ...part, part: { type: 'refusal', refusal: '' } }),
          event('refusal.delta', { ...part, delta: 'No' }),
          event('refusal.done', { ...part, refusal: 'No.' }),
        ),
      ).toEqual([{ ...message('Hey'), content: [...message('Hey').content, { type: 'refusal', refusal: 'No.' }] }]);
    });

    it('from a delta alone', () => {
      expect(last(text('Hey'))).toEqual({ object: 'response', output: [message('Hey')] });
    });

    it('from parts that are open at the same time', () => {
      const part = { type: 'output_text', text: '', annotations: [] };
      const open = (content_index: number): object =>
        event('content_part.added', { output_index: 0, item_id: 'm', content_index, part });
      const events = [open(0), open(1), text('b', { content_index: 1 }), text('a')];

      expect(outputOf(added(0, message()), ...events)).toEqual([message('a', 'b')]);
    });

    it('after what it began with', () => {
      const began = message('a', 'b');

      expect(outputOf(added(0, began), text('!', { content_index: 1 }), text('?', { content_index: 2 }))).toEqual([
        message('a', 'b!', '?'),
      ]);
      expect(outputOf(added(0, began), text('!'))).toEqual([message('a!', 'b')]);
    });

    it('without what is empty', () => {
      const empty = event('output_text.done', { output_index: 0, item_id: 'm', content_index: 0, text: '' });

      expect(outputOf(text(''), empty)).toEqual([message()]);
      expect(outputOf(text('a'), empty, text('b'))).toEqual([message('ab')]);
    });

    it('without parts of no type', () => {
      const part = { output_index: 0, item_id: 'm', content_index: 1, part: {} };

      expect(outputOf(text('a'), event('content_part.added', part), event('content_part.done', part))).toEqual([
        message('a'),
      ]);
    });

    it('from a done event alone', () => {
      const at = { output_index: 0, item_id: 'm' };

      expect(outputOf(event('output_text.done', { ...at, content_index: 0, text: 'Hey' }))).toMatchObject([
        { content: [{ type: 'output_text', text: 'Hey' }] },
      ]);
      const part = { type: 'output_text', text: 'Hey', annotations: [] };
      expect(outputOf(event('content_part.done', { ...at, content_index: 0, part }))).toEqual([message('Hey')]);
    });

    it('as its done item says, but for what is empty in that', () => {
      const note = { type: 'file_path', file_id: 'f' };
      const annotation = { output_index: 0, item_id: 'm', content_index: 0, annotation_index: 0, annotation: note };
      const closed = { ...message('Hello'), status: 'completed' };

      expect(
        outputOf(added(0, message()), text('Helo'), event('output_text.annotation.added', annotation), done(0, closed)),
      ).toEqual([{ ...closed, content: [{ type: 'output_text', text: 'Hello', annotations: [note] }] }]);
    });

    it('with a new part under an index whose part was closed', () => {
      const closed = (value: string): object =>
        event('output_text.done', { output_index: 0, item_id: 'm', content_index: 0, text: value });

      expect(outputOf(text('a'), closed('a'), text('b'), closed('b!'))).toEqual([message('a', 'b!')]);
    });

    it('with annotations, each once', () => {
      const annotation = (fields: object): object =>
        event('output_text.annotation.added', { output_index: 0, item_id: 'm', content_index: 0, ...fields });
      const [item] = outputOf(
        text('a'),
        annotation({ annotation_index: 0, annotation: { type: 'url_citation', url: '1' } }),
        annotation({ annotation_index: 0, annotation: { type: 'url_citation', url: '1' } }),
        annotation({ annotation: { type: 'url_citation', url: '2' } }),
        annotation({ annotation_index: 9, annotation: { type: 'url_citation', url: '3' } }),
        annotation({ annotation: null }),
      ) as [{ content: { annotations: unknown }[] }];

      expect(item.content[0]?.annotations).toMatchObject([{ url: '1' }, { url: '2' }, { url: '3' }]);
    });

    it('with log probabilities when the part is closed, or at the end', () => {
      const logprobs = (token: string): object => ({ logprobs: [{ token, logprob: -1 }] });
      const tokens = (...events: object[]): unknown[] =>
        snapshots(text('a', logprobs('a')), text('b', logprobs('b')), ...events).map(({ output }) => {
          const [item] = output as unknown as [{ content: { logprobs?: { token: string }[] }[] }];
          return item.content[0]?.logprobs?.map(({ token }) => token).join('');
        });
      const close = { output_index: 0, item_id: 'm', content_index: 0, text: 'ab' };

      const next = text('c', { content_index: 1 });
      expect(tokens(event('output_text.done', close), next)).toEqual([undefined, undefined, 'ab', 'ab']);
      expect(tokens()).toEqual([undefined, undefined, 'ab']);
      expect(tokens(end('completed', { output: [] }))).toEqual([undefined, undefined, 'ab']);
      expect(tokens(event('output_text.done', { ...close, ...logprobs('ab!') }))).toEqual([
        undefined,
        undefined,
        'ab!',
      ]);
    });
  });

  describe('builds reasoning', () => {
    const at = { output_index: 0, item_id: 'r' };
    const reasoning = (...words: string[]) => words.map((word) => ({ type: 'reasoning_text', text: word }));

    it('raw and summary, part by part', () => {
      const summary = (summary_index: number, delta: string): object =>
        event('reasoning_summary_text.delta', { ...at, summary_index, delta });
      const part = { type: 'summary_text', text: '' };

      expect(
        outputOf(
          added(0, { id: 'r', type: 'reasoning', summary: [] }),
          event('reasoning_summary_part.added', { ...at, summary_index: 0, part }),
          summary(0, 'a'),
          summary(0, 'b'),
          event('reasoning_summary_part.done', { ...at, summary_index: 0, part: { ...part, text: 'ab' } }),
          summary(1, 'c'),
          event('reasoning_text.delta', { ...at, content_index: 0, delta: 'raw' }),
          event('reasoning_text.done', { ...at, content_index: 0, text: 'raw!' }),
        ),
      ).toEqual([
        {
          id: 'r',
          type: 'reasoning',
          summary: [
            { type: 'summary_text', text: 'ab' },
            { type: 'summary_text', text: 'c' },
          ],
          content: reasoning('raw!'),
        },
      ]);
    });

    it('in parts of the summary that are open at the same time', () => {
      const open = (summary_index: number): object =>
        event('reasoning_summary_part.added', { ...at, summary_index, part: { type: 'summary_text', text: '' } });
      const words = (summary_index: number, delta: string): object =>
        event('reasoning_summary.delta', { ...at, summary_index, delta });

      expect(outputOf(open(0), open(1), words(1, 'b'), words(0, 'a'))).toMatchObject([
        { summary: [{ text: 'a' }, { text: 'b' }] },
      ]);
    });

    it('as one part, where the server counts its pieces', () => {
      const pieces = ['a', 'b', 'c'].map((delta, content_index) =>
        event('reasoning_text.delta', { ...at, content_index, delta }),
      );

      expect(outputOf(...pieces)).toMatchObject([{ content: reasoning('abc') }]);
    });

    it('as several parts, where each has its end or its beginning', () => {
      const end = (content_index: number, words: string): object =>
        event('reasoning_text.done', { ...at, content_index, text: words });
      const part = { type: 'reasoning_text', text: '' };

      expect(outputOf(end(0, 'a'), end(1, 'b'), end(2, 'b'))).toMatchObject([{ content: reasoning('a', 'b') }]);
      expect(
        outputOf(
          event('reasoning_text.delta', { ...at, content_index: 0, delta: 'a' }),
          event('reasoning_part.added', { ...at, content_index: 1, part }),
          event('reasoning_text.delta', { ...at, content_index: 1, delta: 'b' }),
        ),
      ).toMatchObject([{ content: reasoning('a', 'b') }]);
    });

    it("of a gateway's own kind, text or object, and each word once", () => {
      expect(
        outputOf(
          event('reasoning.delta', { ...at, delta: { text: 'a' } }),
          event('reasoning_text.delta', { ...at, delta: 'a' }),
          event('reasoning.delta', { delta: 'b' }),
          event('reasoning.done', { ...at, text: 'ab' }),
        ),
      ).toEqual([{ id: 'r', type: 'reasoning', summary: [], content: reasoning('ab') }]);
    });

    it('with the encrypted content of the done item', () => {
      expect(
        outputOf(
          added(0, { id: 'r', type: 'reasoning', encrypted_content: 'early' }),
          done(0, { id: 'r', type: 'reasoning', encrypted_content: 'final' }),
        ),
      ).toMatchObject([{ encrypted_content: 'final' }]);
    });
  });

  describe('builds the calls', () => {
    const at = { output_index: 1, item_id: 'f' };
    const call = { id: 'f', type: 'function_call', status: 'in_progress', call_id: 'c', name: 'tide', arguments: '' };

    it('of functions, whatever comes first of their ends', () => {
      const full = { ...call, status: 'completed', arguments: '{"p":1}' };
      const argumentsDone = event('function_call_arguments.done', { ...at, arguments: '{"p":1}' });

      expect(
        outputOf(
          added(1, call),
          event('function_call_arguments.delta', { ...at, delta: '{"p":' }),
          event('function_call_arguments.delta', { ...at, delta: '1}' }),
          argumentsDone,
        ),
      ).toEqual([{ ...call, arguments: '{"p":1}' }]);
      expect(outputOf(added(1, call), done(1, full), argumentsDone)).toEqual([full]);
      expect(outputOf(event('function_call_arguments.done', { ...at, arguments: '{}', name: 'tide' }))).toEqual([
        { ...call, call_id: '', arguments: '{}' },
      ]);
    });

    it('that were never announced, without a name', () => {
      expect(
        outputOf(
          event('function_call_arguments.delta', { ...at, delta: '{}' }),
          event('custom_tool_call_input.delta', { output_index: 2, delta: 'a' }),
          event('web_search_call.searching', { output_index: 3, item_id: 'w' }),
        ),
      ).toEqual([
        { ...call, call_id: '', name: '', arguments: '{}' },
        { type: 'custom_tool_call', status: 'in_progress', call_id: '', name: '', input: 'a' },
        { type: 'web_search_call', id: 'w', status: 'searching' },
      ]);
    });

    it('of custom tools, MCP and the code interpreter', () => {
      expect(
        outputOf(
          event('custom_tool_call_input.delta', { output_index: 0, item_id: 'a', delta: 'free ' }),
          event('custom_tool_call_input.delta', { output_index: 0, item_id: 'a', delta: 'text' }),
          event('mcp_call_arguments.delta', { output_index: 1, item_id: 'b', delta: '{}' }),
          event('mcp_call.failed', { output_index: 1, item_id: 'b' }),
          event('code_interpreter_call_code.delta', { output_index: 2, item_id: 'c', delta: '1+' }),
          event('code_interpreter_call_code.done', { output_index: 2, item_id: 'c', code: '1+1' }),
          event('code_interpreter_call.interpreting', { output_index: 2, item_id: 'c' }),
        ),
      ).toMatchObject([
        { type: 'custom_tool_call', input: 'free text' },
        { type: 'mcp_call', arguments: '{}', status: 'failed' },
        { type: 'code_interpreter_call', code: '1+1', status: 'interpreting' },
      ]);
    });

    it('of the shell, and what it printed', () => {
      const command = (phase: string, fields: object): object =>
        event(`shell_call_command.${phase}`, { output_index: 0, command_index: 0, ...fields });
      const output = (delta: object): object =>
        event('shell_call_output_content.delta', { output_index: 1, item_id: 'o', command_index: 0, delta });

      expect(
        outputOf(
          added(0, { id: 's', type: 'shell_call', action: { commands: [] } }),
          command('added', { command: 'l' }),
          command('delta', { delta: 's' }),
          command('done', { command: 'ls -l' }),
          output({ stdout: 'a' }),
          output({ stdout: 'b', stderr: '!' }),
        ),
      ).toMatchObject([
        { action: { commands: ['ls -l'] } },
        { type: 'shell_call_output', output: [{ stdout: 'ab', stderr: '!' }] },
      ]);
    });

    it('of the shell, without places that cannot be', () => {
      const command = (command_index: unknown): object =>
        event('shell_call_command.added', { output_index: 0, command_index, command: 'ls' });
      const output = (command_index: unknown): object =>
        event('shell_call_output_content.delta', { output_index: 1, command_index, delta: { stdout: 'a' } });
      const wrong = [-1, 1, 1e9, 'x'];

      expect(outputOf(...wrong.map(command), ...wrong.map(output))).toEqual([
        { type: 'shell_call', status: 'in_progress' },
        { type: 'shell_call_output', status: 'in_progress' },
      ]);
    });

    it('of patches', () => {
      const diff = (delta: string): object =>
        event('apply_patch_call_operation_diff.delta', { output_index: 0, item_id: 'p', delta });
      const operation = { type: 'update_file', path: 'a', diff: '' };

      expect(
        outputOf(added(0, { id: 'p', type: 'apply_patch_call', operation }), diff('+a'), diff('+b')),
      ).toMatchObject([{ operation: { ...operation, diff: '+a+b' } }]);
    });

    it('with no status older than the one of the done item, and no partial image', () => {
      const image = { id: 'i', type: 'image_generation_call', status: 'generating', result: null };
      const place = { output_index: 0, item_id: 'i' };

      expect(
        outputOf(added(0, image), event('image_generation_call.partial_image', { ...place, partial_image_b64: 'x' })),
      ).toEqual([image]);
      expect(
        outputOf(
          added(0, image),
          done(0, { ...image, status: 'completed', result: 'b64' }),
          event('image_generation_call.generating', place),
        ),
      ).toEqual([{ ...image, status: 'completed', result: 'b64' }]);
    });
  });
});
