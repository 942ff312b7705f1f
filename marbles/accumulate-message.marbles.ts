import { concat, mergeMap, of, Subject, take, tap } from 'rxjs';
import {
  accumulateMessage,
  type ChatCompletion,
  type ImagesResult,
  type MessageObject,
  type ResponseObject,
  type ResponseStreamEvent,
} from 'rx-llm';
import { chat, images, marbles, messages, responses } from 'rx-llm/testing';

const created = 1_700_000_000;
const model = 'test-model';

/** A completion of one choice that says `content`. */
function completion(content: string | null, finish_reason: string | null = null): ChatCompletion {
  const message = { role: 'assistant', content } as const;
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, finish_reason }],
  };
}

/** A completion of one choice that calls `tide`. */
function calling(id: string, text: string): ChatCompletion {
  const tool_calls = [{ id, type: 'function', function: { name: 'tide', arguments: text } }] as const;
  const message = { role: 'assistant', content: null, tool_calls } as const;
  return { ...completion(null), choices: [{ index: 0, message, finish_reason: null }] };
}

describe('accumulateMessage', () => {
  describe('on chat completions', () => {
    // r: the role; h, w: text; e: the finish reason; u: the usage
    const values = {
      r: chat.role(),
      h: chat.text('Hello'),
      w: chat.text(' world'),
      e: chat.finish('stop'),
      u: chat.usage({ prompt_tokens: 2, completion_tokens: 3 }),
    };
    const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };

    it(
      'emits the completion after each chunk that changed it',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -r-h-w-e-u-|');
        const e1subs = '        ^----------!';
        const expected = '      -1-2-3-4-5-|';

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, {
          1: completion(null),
          2: completion('Hello'),
          3: completion('Hello world'),
          4: completion('Hello world', 'stop'),
          5: { ...completion('Hello world', 'stop'), usage },
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'emits nothing for a chunk that says nothing new',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -r-r-h-e-e-|');
        const expected = '      -1---2-3---|';

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, {
          1: completion(null),
          2: completion('Hello'),
          3: completion('Hello', 'stop'),
        });
      }),
    );

    it(
      'keeps interleaved choices apart, in the order of their numbers',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('       -a-b-c-|', {
          a: chat.text('One', { choice: 1 }),
          b: chat.text('Nought'),
          c: chat.text(' more', { choice: 1 }),
        });
        const expected = '      -1-2-3-|';
        const choices = (first: string | undefined, second: string): ChatCompletion => ({
          ...completion(null),
          choices: [first, second].flatMap((content, index) =>
            content === undefined ? [] : { index, message: { role: 'assistant', content }, finish_reason: null },
          ),
        });

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, {
          1: choices(undefined, 'One'),
          2: choices('Nought', 'One'),
          3: choices('Nought', 'One more'),
        });
      }),
    );

    it(
      'puts tool calls together from their pieces',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('       -t-a-b-|', {
          t: chat.toolCall({ name: 'tide' }),
          a: chat.toolArguments('{"p":'),
          b: chat.toolArguments('"Oban"}'),
        });
        const expected = '      -1-2-3-|';
        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, {
          1: calling('call_1', ''),
          2: calling('call_1', '{"p":'),
          3: calling('call_1', '{"p":"Oban"}'),
        });
      }),
    );

    it(
      'passes an error on after what had been received',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -r-h-#');
        const e1subs = '        ^----!';
        const expected = '      -1-2-#';

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, { 1: completion(null), 2: completion('Hello') });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'names on an error, at last, a call that got no id',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -t--#', {
          t: chat.delta({ tool_calls: [{ index: 0, function: { name: 'tide', arguments: '{}' } }] }),
        });
        const e1subs = '        ^---!   ';
        const expected = '      -1--(2#)';
        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, {
          1: calling('', '{}'),
          2: calling('call_0_chatcmpl1', '{}'),
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );
  });

  describe('on responses', () => {
    const message = (text: string, status: string): ResponseObject['output'] => [
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status,
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ];
    const response = (status: string, output: ResponseObject['output'] = []): ResponseObject => ({
      id: 'resp_1',
      object: 'response',
      created_at: created,
      model,
      status,
      output,
    });
    // c: the beginning; h, w: text; k: a keepalive; e, n: the end, with and without output; f, i: a failed one, a cut one
    const values = {
      c: responses.created(),
      h: responses.text('Hello'),
      w: responses.text(' world'),
      k: responses.keepalive(),
      e: responses.completed({ output: message('Hello world', 'completed') }),
      n: responses.completed(),
      f: responses.failed('overloaded'),
      i: responses.incomplete('max_output_tokens', { output: message('Hel', 'incomplete') }),
    };

    it(
      'emits the response after each event that changed it',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -c-h-k-w-e|');
        const e1subs = '        ^---------!';
        const expected = '      -1-2---3-4|';

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, {
          1: response('in_progress'),
          2: response('in_progress', message('Hello', 'in_progress')),
          3: response('in_progress', message('Hello world', 'in_progress')),
          4: response('completed', message('Hello world', 'completed')),
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'keeps what streamed where the final response lists nothing',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -h-n|');
        const expected = '      -1-2|';

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, {
          1: { object: 'response', output: message('Hello', 'in_progress') },
          2: response('completed', message('Hello', 'completed')),
        });
      }),
    );

    it(
      'keeps of each item the richer: here what streamed',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -h-i|');
        const expected = '      -1-2|';

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, {
          1: { object: 'response', output: message('Hello', 'in_progress') },
          2: {
            ...response('incomplete', message('Hello', 'incomplete')),
            incomplete_details: { reason: 'max_output_tokens' },
          },
        });
      }),
    );

    it(
      'emits the failed response, with what had streamed, before the error',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -c-h-(f#)');
        const e1subs = '        ^----!   ';
        const expected = '      -1-2-(3#)';

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, {
          1: response('in_progress'),
          2: response('in_progress', message('Hello', 'in_progress')),
          3: {
            ...response('failed', message('Hello', 'in_progress')),
            error: { code: 'server_error', message: 'overloaded' },
          },
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'starts afresh with the next response of a concat',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -c-e|    ');
        const e2 = cold('           -c-n|');
        const e1subs = '        ^---!    ';
        const e2subs = '        ----^---!';
        const expected = '      -1-2-1-3|';

        expectObservable(concat(e1, e2).pipe(accumulateMessage())).toBe(expected, {
          1: response('in_progress'),
          2: response('completed', message('Hello world', 'completed')),
          3: response('completed'),
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
        expectSubscriptions(e2.subscriptions).toBe(e2subs);
      }),
    );
  });

  describe('on messages', () => {
    const message = (content: MessageObject['content'], stop_reason: string | null = null): MessageObject => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content,
      stop_reason,
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: stop_reason === null ? 1 : 4 },
    });
    const text = (words: string) => ({ type: 'text', text: words }) as const;
    const tide = (input: object) => ({ type: 'tool_use', id: 'toolu_2', name: 'tide', input }) as const;

    // s: the beginning; b: a text block; h, w: its text; z: its end; t: a call; a, c: its input; y: its end;
    // p: a ping; f: the stop reason; e: the end
    const values = {
      s: messages.start({ usage: { input_tokens: 9 } }),
      b: messages.blockStart({ type: 'text', text: '' }),
      h: messages.text('Hello'),
      w: messages.text(' world'),
      z: messages.blockStop(),
      t: messages.toolCall({ name: 'tide' }, { index: 1 }),
      a: messages.toolArguments('{"p":', { index: 1 }),
      c: messages.toolArguments('"Oban"}', { index: 1 }),
      y: messages.blockStop({ index: 1 }),
      p: messages.ping(),
      f: messages.finish('tool_use', { output_tokens: 4 }),
      e: messages.stop(),
    };

    it(
      'emits the message after each event that changed it',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       sbh-p-wz-f-e|');
        const e1subs = '        ^-----------!';
        const expected = '      123---4--5--|';

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, {
          1: message([]),
          2: message([text('')]),
          3: message([text('Hello')]),
          4: message([text('Hello world')]),
          5: message([text('Hello world')], 'tool_use'),
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'fills in the input of a call when its block is over',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       s-t-a-c-y-f-e|');
        const expected = '      1-2-----3-4--|';

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, {
          1: message([]),
          2: message([tide({})]),
          3: message([tide({ p: 'Oban' })]),
          4: message([tide({ p: 'Oban' })], 'tool_use'),
        });
      }),
    );

    it(
      'leaves an input that was cut as the text that came',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       s-t-a-#   ');
        const e1subs = '        ^-----!   ';
        const expected = '      1-2---(3#)';

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, {
          1: message([]),
          2: message([tide({})]),
          3: message([{ ...tide({}), input: '{"p":' }]),
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );
  });

  describe('on images', () => {
    const attributes = { size: '1024x1024', quality: 'high', background: 'opaque', output_format: 'png' };
    const result = (...base64: string[]): ImagesResult => ({
      created,
      ...attributes,
      data: base64.map((b64_json) => ({ b64_json })),
    });
    const values = {
      p: images.partial('rough'),
      i: images.completed('first'),
      j: images.completed('second', { usage: { output_tokens: 7 } }),
    };

    it(
      'emits the result with each final image',
      marbles(values, ({ cold, expectObservable }) => {
        const e1 = cold('       -p-i-p-j|');
        const expected = '      ---1---2|';

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected, {
          1: result('first'),
          2: { ...result('first', 'second'), usage: { output_tokens: 7 } },
        });
      }),
    );
  });

  describe('on any source', () => {
    const values = { h: chat.text('Hello'), w: chat.text(' world') };

    it(
      'completes without a value when the source does',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold<ResponseStreamEvent>('---|');
        const e1subs = '                      ^--!';
        const expected = '                    ---|';

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'emits nothing while the source is silent',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold<ResponseStreamEvent>('-----');
        const expected = '                    -----';

        expectObservable(e1.pipe(accumulateMessage())).toBe(expected);
      }),
    );

    it(
      'unsubscribes from the source when it is unsubscribed from',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -h-w-h-|');
        const unsub = '         ----!   ';
        const e1subs = '        ^---!   ';
        const expected = '      -1-2-   ';

        expectObservable(e1.pipe(accumulateMessage()), unsub).toBe(expected, {
          1: completion('Hello'),
          2: completion('Hello world'),
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'does not break the chain of unsubscription',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -h-w-h-|');
        const unsub = '         ----!   ';
        const e1subs = '        ^---!   ';
        const expected = '      -1-2-   ';
        const result = e1.pipe(
          mergeMap((event) => of(event)),
          accumulateMessage(),
          mergeMap((message) => of(message)),
        );

        expectObservable(result, unsub).toBe(expected, { 1: completion('Hello'), 2: completion('Hello world') });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'starts afresh for each subscription',
      marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -h-w-|  ');
        const e1subs1 = '       ^----!  ';
        const e1subs2 = '       --^----!';
        const sub1 = '          ^       ';
        const sub2 = '          --^     ';
        const expected1 = '     -1-2-|  ';
        const expected2 = '     ---1-2-|';

        const result = e1.pipe(accumulateMessage());
        const seen = { 1: completion('Hello'), 2: completion('Hello world') };
        expectObservable(result, sub1).toBe(expected1, seen);
        expectObservable(result, sub2).toBe(expected2, seen);
        expectSubscriptions(e1.subscriptions).toBe([e1subs1, e1subs2]);
      }),
    );

    it('stops a synchronous source as soon as it has enough', () => {
      const read: string[] = [];
      of('Hello', ' big', ' world')
        .pipe(
          tap((piece) => read.push(piece)),
          mergeMap((piece) => of(chat.text(piece))),
          accumulateMessage(),
          take(2),
        )
        .subscribe();

      expect(read).toEqual(['Hello', ' big']);
    });

    it('reads an event that a subscriber sends while it is being told of another', () => {
      const source = new Subject<ReturnType<typeof chat.text>>();
      const seen: unknown[] = [];
      source.pipe(accumulateMessage()).subscribe((message) => {
        const content = message.choices[0]?.message.content;
        seen.push(content);
        if (content === 'Hello') source.next(chat.text(' world'));
      });
      source.next(chat.text('Hello'));

      expect(seen).toEqual(['Hello', 'Hello world']);
    });
  });
});
