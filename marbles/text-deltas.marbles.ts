import { concat, from, mergeMap, of, Subject, take, tap } from 'rxjs';
import { StreamEventError, textDeltas } from 'rx-llm';
import { chat, letters, marbles, messages, responses } from 'rx-llm/testing';

describe('textDeltas', () => {
  // r: the role; h, w: text; f: the finish reason; u: usage
  const values = {
    r: chat.role(),
    h: chat.text('Hello'),
    w: chat.text(' world'),
    f: chat.finish('stop'),
    u: chat.usage({ prompt_tokens: 1, completion_tokens: 2 }),
  };
  const pieces = { x: 'Hello', y: ' world' };

  it(
    'emits each piece of text as it comes, and completes with the source',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -r-h-w-f-u-|');
      const e1subs = '        ^----------!';
      const expected = '      ---x-y-----|';

      expectObservable(e1.pipe(textDeltas())).toBe(expected, pieces);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'completes with an empty source',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --|');
      const e1subs = '        ^-!';
      const expected = '      --|';

      expectObservable(e1.pipe(textDeltas())).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'passes an error on, after the text that came before it',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const error = new StreamEventError('overloaded');
      const e1 = cold('       -r-h-#', undefined, error);
      const e1subs = '        ^----!';
      const expected = '      ---x-#';

      expectObservable(e1.pipe(textDeltas())).toBe(expected, pieces, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'unsubscribes from the source when it is unsubscribed from',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -r-h-w-f-|');
      const e1subs = '        ^---!     ';
      const unsub = '         ----!     ';
      const expected = '      ---x-     ';

      expectObservable(e1.pipe(textDeltas()), unsub).toBe(expected, pieces);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'does not break the unsubscription of a chain',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -r-h-w-f-|');
      const e1subs = '        ^---!     ';
      const unsub = '         ----!     ';
      const expected = '      ---x-     ';

      const result = e1.pipe(
        mergeMap((event) => of(event)),
        textDeltas(),
        mergeMap((piece) => of(piece)),
      );
      expectObservable(result, unsub).toBe(expected, pieces);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'subscribes to the source for each of its subscribers, and keeps them apart',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -a-b-|  ', { a: responses.text('Hel'), b: responses.textDone('Hello') });
      const e1subs1 = '       ^----!  ';
      const e1subs2 = '       --^----!';
      const sub1 = '          ^       ';
      const sub2 = '          --^     ';
      const expected1 = '     -x-y-|  ';
      const expected2 = '     ---x-y-|';

      const result = e1.pipe(textDeltas());
      expectObservable(result, sub1).toBe(expected1, { x: 'Hel', y: 'lo' });
      expectObservable(result, sub2).toBe(expected2, { x: 'Hel', y: 'lo' });
      expectSubscriptions(e1.subscriptions).toBe([e1subs1, e1subs2]);
    }),
  );

  it('stops a synchronous source at once', () => {
    const read: unknown[] = [];
    const seen: string[] = [];
    of(values.r, values.h, values.w, values.f)
      .pipe(
        tap((event) => read.push(event)),
        textDeltas(),
        take(1),
      )
      .subscribe((piece) => seen.push(piece));

    expect(seen).toEqual(['Hello']);
    expect(read).toHaveLength(2);
  });

  it('reads an event that comes while another is being delivered', () => {
    const source = new Subject<ReturnType<typeof chat.text>>();
    const seen: string[] = [];
    source.pipe(textDeltas()).subscribe((piece) => {
      seen.push(piece);
      if (piece === 'Hello') source.next(values.w);
    });
    source.next(values.h);

    expect(seen).toEqual(['Hello', ' world']);
  });

  it(
    'emits nothing for what is no text',
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('       -a-b-c-d-e-f-g-|', {
        a: chat.role(),
        b: chat.text(''),
        c: chat.reasoning('hm'),
        d: chat.refusal('no'),
        e: chat.toolCall({ name: 'clock', arguments: {} }),
        f: chat.delta({ audio: { transcript: 'spoken' } }),
        g: chat.delta({ content: null }),
      });
      const expected = '      ---------------|';

      expectObservable(e1.pipe(textDeltas())).toBe(expected);
    }),
  );

  describe('on chat', () => {
    const n2 = {
      a: chat.text('red', { choice: 0 }),
      b: chat.text('one', { choice: 1 }),
      c: chat.text(' green', { choice: 0 }),
      d: chat.text(' two', { choice: 1 }),
    };

    it(
      'follows choice 0 of several that interleave',
      marbles(n2, ({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-c-d-|');
        const expected = '    -x---y---|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: 'red', y: ' green' });
      }),
    );

    it(
      'follows the choice that it is told to',
      marbles(n2, ({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-c-d-|');
        const expected = '    ---x---y-|';

        expectObservable(e1.pipe(textDeltas({ choice: 1 }))).toBe(expected, { x: 'one', y: ' two' });
      }),
    );

    it(
      'reads the text parts where content is a list',
      marbles(({ cold, expectObservable }) => {
        const thought = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] } as const;
        const e1 = cold('     -a-b-c-|', {
          a: chat.delta({ content: [thought] }),
          b: chat.delta({
            content: [
              { type: 'text', text: 'Tea' },
              { type: 'reference', reference_ids: [1] },
            ],
          }),
          c: chat.text('!'),
        });
        const expected = '    ---x-y-|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: 'Tea', y: '!' });
      }),
    );

    it(
      'reads text beside and after the finish reason',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-|', {
          a: { choices: [{ index: 0, delta: { content: 'now' }, finish_reason: 'stop' }] },
          b: chat.text(' late'),
        });
        const expected = '    -x-y-|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: 'now', y: ' late' });
      }),
    );

    it(
      'leaves out the whole message that a server repeats beside the deltas',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -r-a-b-c-|', {
          r: { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, message: { content: 'Te' } }] },
          a: { choices: [{ index: 0, delta: { content: 'Te' }, message: { content: 'Te' } }] },
          b: { choices: [{ index: 0, delta: { content: 'a' }, message: { content: 'Tea' } }] },
          c: { choices: [{ index: 0, delta: { content: '' }, message: { content: 'Tea' }, finish_reason: 'stop' }] },
        });
        const expected = '    ---x-y---|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: 'Te', y: 'a' });
      }),
    );

    it(
      'reads a message that comes without deltas, and of one that grows the new part',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-c-|', {
          a: { choices: [{ index: 0, message: { content: 'Te' } }] },
          b: { choices: [{ index: 0, delta: null, message: { content: 'Tea' } }] },
          c: { choices: [{ index: 0, delta: {}, message: { content: 'Tea.' }, finish_reason: 'stop' }] },
        });
        const expected = '    -x-y-z-|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: 'Te', y: 'a', z: '.' });
      }),
    );
  });

  describe('on Responses', () => {
    const message = (...texts: string[]) => ({
      type: 'message' as const,
      id: 'msg_1',
      role: 'assistant' as const,
      content: texts.map((text) => ({ type: 'output_text' as const, text, annotations: [] })),
    });

    it(
      'emits deltas, and repeats nothing of what closes them',
      marbles(({ cold, expectObservable }) => {
        const turn = responses.turn(['Hello', ' world']);
        const e1 = cold('     abcdefghij|', letters(turn));
        const expected = '    ----xy----|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, pieces);
        expect(turn).toHaveLength('abcdefghij'.length);
      }),
    );

    it(
      'emits the text that only the end of a part holds',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-|', { a: responses.textDone('Tea'), b: responses.itemDone(message('Tea')) });
        const expected = '    -x---|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: 'Tea' });
      }),
    );

    it(
      'emits the rest of a part of which only the beginning came in deltas',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-|', { a: responses.text('Te'), b: responses.textDone('Tea') });
        const expected = '    -x-y-|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: 'Te', y: 'a' });
      }),
    );

    it(
      'emits the text that only a closed item, or only the final response, holds',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-|', {
          a: responses.itemDone(message('Tea')),
          b: responses.completed({ output: [message('Tea'), { ...message(' or coffee'), id: 'msg_2' }] }),
        });
        const expected = '    -x-y-|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: 'Tea', y: ' or coffee' });
      }),
    );

    it(
      "emits a gateway's output_text where the final response lists no items",
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-|', { a: { ...responses.completed(), response: { output: [], output_text: 'Tea' } } });
        const expected = '    -x-|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: 'Tea' });
      }),
    );

    it(
      'reads parts and items that are opened with text, and parts that only their end holds',
      marbles(({ cold, expectObservable }) => {
        const part = (phase: 'added' | 'done', text: string) =>
          ({ type: `response.content_part.${phase}`, content_index: 0, part: { type: 'output_text', text } }) as const;
        const e1 = cold('     -a-b-|', { a: part('added', 'Te'), b: part('done', 'Tea') });
        const e2 = cold('     -a-b-|', { a: responses.itemAdded(message('Te')), b: responses.text('a') });
        const expected1 = '   -x-y-|';
        const e3 = cold('     -a---|', { a: responses.itemDone(message('Te', 'a')) });
        const expected2 = '   -x---|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected1, { x: 'Te', y: 'a' });
        expectObservable(e2.pipe(textDeltas())).toBe(expected1, { x: 'Te', y: 'a' });
        expectObservable(e3.pipe(textDeltas())).toBe(expected2, { x: 'Tea' });
      }),
    );

    it(
      'takes no part for text but that of text',
      marbles(({ cold, expectObservable }) => {
        const part = { type: 'refusal', refusal: 'no', text: 'no' } as const;
        const e1 = cold('     -a-|', { a: { type: 'response.content_part.done', content_index: 0, part } as const });
        const expected = '    ---|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected);
      }),
    );

    it(
      'reads no text from a response that is not final',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-|', { a: responses.inProgress({ output: [message('Tea')] }) });
        const expected = '    ---|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected);
      }),
    );

    it(
      'compares the end of a part with its item, since some servers number each delta as a part',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-c-|', {
          a: responses.text('Te', { content_index: 0 }),
          b: responses.text('a', { content_index: 1 }),
          c: responses.textDone('Tea', { content_index: 2 }),
        });
        const expected = '    -x-y---|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: 'Te', y: 'a' });
      }),
    );

    it(
      'reads on after a part that was closed too early',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-c-d-|', {
          a: responses.text('1'),
          b: responses.textDone('1'),
          c: responses.text('2'),
          d: responses.textDone('12'),
        });
        const expected = '    -x---y---|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: '1', y: '2' });
      }),
    );

    it(
      'keeps two parts of an item apart',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-c-d-|', {
          a: responses.text('Tea', { content_index: 0 }),
          b: responses.textDone('Tea', { content_index: 0 }),
          c: responses.textDone(' or milk', { content_index: 1 }),
          d: responses.itemDone(message('Tea', ' or milk')),
        });
        const expected = '    -x---y---|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: 'Tea', y: ' or milk' });
      }),
    );

    it(
      'keeps items that interleave apart, by their place in the output',
      marbles(({ cold, expectObservable }) => {
        const at = (output_index: number) => ({ output_index });
        const e1 = cold('     -a-b-c-d-|', {
          a: responses.text('Te', at(0)),
          b: responses.text('Mil', at(1)),
          c: responses.textDone('Tea', at(0)),
          d: responses.textDone('Milk', at(1)),
        });
        const expected = '    -w-x-y-z-|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { w: 'Te', x: 'Mil', y: 'a', z: 'k' });
      }),
    );

    it(
      'repeats nothing when the final response leaves items out, or tells the text otherwise',
      marbles(({ cold, expectObservable }) => {
        const reasoning = { type: 'reasoning' as const, id: 'rs_1', summary: [] };
        const events = {
          r: responses.itemDone(reasoning, { output_index: 0 }),
          b: responses.text('Tea', { output_index: 1 }),
          c: responses.completed({ output: [{ ...message('Tea'), id: 'another' }] }),
          s: responses.text(' Tea '),
          t: responses.completed({ output: [message('Tea')] }),
        };
        const e1 = cold('     -r-b-c-|', events);
        const e2 = cold('     ---s-t-|', events);
        const expected = '    ---x---|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, { x: 'Tea' });
        expectObservable(e2.pipe(textDeltas())).toBe(expected, { x: ' Tea ' });
      }),
    );

    it(
      'takes no delta for text but that of text',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-c-d-|', {
          a: responses.reasoning('hm'),
          b: responses.refusal('no'),
          c: responses.toolArguments('{}'),
          d: { type: 'response.shiny.delta' as const, delta: 'new' },
        });
        const expected = '    ---------|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected);
      }),
    );

    it(
      'starts afresh at response.created, so that of two turns nothing is lost',
      marbles(({ expectObservable }) => {
        const turn = from(responses.turn('Tea'));
        const expected = '    (xx|)';

        expectObservable(concat(turn, turn).pipe(textDeltas())).toBe(expected, { x: 'Tea' });
      }),
    );
  });

  describe('on Messages', () => {
    it(
      'reads the deltas of all text blocks',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-c-d-e-|', {
          a: messages.start(),
          b: messages.text('Hello'),
          c: messages.reasoning('hm', { index: 1 }),
          d: messages.ping(),
          e: messages.text(' world', { index: 2 }),
        });
        const expected = '    ---x-----y-|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, pieces);
      }),
    );

    it(
      'reads the text that a block starts with',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-|', {
          a: messages.blockStart({ type: 'text', text: 'Hello', citations: null }),
          b: messages.text(' world'),
        });
        const expected = '    -x-y-|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, pieces);
      }),
    );

    it(
      'reads the text that message_start holds already',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-|', {
          a: messages.start({ content: [{ type: 'text', text: 'Hello', citations: null }] }),
          b: messages.text(' world', { index: 1 }),
        });
        const expected = '    -x-y-|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, pieces);
      }),
    );

    it(
      'reads a whole turn',
      marbles(({ cold, expectObservable }) => {
        const turn = messages.turn(['Hello', ' world'], { reasoning: 'hm' });
        const e1 = cold('     abcdefghijk|', letters(turn));
        const expected = '    ------xy---|';

        expectObservable(e1.pipe(textDeltas())).toBe(expected, pieces);
        expect(turn).toHaveLength('abcdefghijk'.length);
      }),
    );
  });
});
