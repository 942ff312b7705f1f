import { mergeMap, of, Subject, take, tap } from 'rxjs';
import { reasoningDeltas, StreamEventError } from 'rx-llm';
import { chat, letters, marbles, messages, responses } from 'rx-llm/testing';

describe('reasoningDeltas', () => {
  // r: the role; h, m: reasoning; t: text; f: the finish reason
  const values = {
    r: chat.role(),
    h: chat.reasoning('hm'),
    m: chat.reasoning(', yes'),
    t: chat.text('Yes.'),
    f: chat.finish('stop'),
  };
  const pieces = { x: 'hm', y: ', yes' };

  it(
    'emits each piece of reasoning as it comes, and completes with the source',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -r-h-m-t-f-|');
      const e1subs = '        ^----------!';
      const expected = '      ---x-y-----|';

      expectObservable(e1.pipe(reasoningDeltas())).toBe(expected, pieces);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'completes with an empty source',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --|');
      const e1subs = '        ^-!';
      const expected = '      --|';

      expectObservable(e1.pipe(reasoningDeltas())).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'passes an error on, after the reasoning that came before it',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const error = new StreamEventError('overloaded');
      const e1 = cold('       -r-h-#', undefined, error);
      const e1subs = '        ^----!';
      const expected = '      ---x-#';

      expectObservable(e1.pipe(reasoningDeltas())).toBe(expected, pieces, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'unsubscribes from the source when it is unsubscribed from, through a chain as well',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -r-h-m-t-|');
      const e1subs = '        ^---!     ';
      const unsub = '         ----!     ';
      const expected = '      ---x-     ';

      const result = e1.pipe(
        mergeMap((event) => of(event)),
        reasoningDeltas(),
        mergeMap((piece) => of(piece)),
      );
      expectObservable(result, unsub).toBe(expected, pieces);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it('stops a synchronous source at once', () => {
    const read: unknown[] = [];
    of(values.h, values.m, values.t)
      .pipe(
        tap((event) => read.push(event)),
        reasoningDeltas(),
        take(1),
      )
      .subscribe();

    expect(read).toEqual([values.h]);
  });

  it('reads an event that comes while another is being delivered', () => {
    const source = new Subject<(typeof values)['h']>();
    const seen: string[] = [];
    source.pipe(reasoningDeltas()).subscribe((piece) => {
      seen.push(piece);
      if (piece === 'hm') source.next(values.m);
    });
    source.next(values.h);

    expect(seen).toEqual(['hm', ', yes']);
  });

  describe('on chat', () => {
    const detail = (text: string) => ({ type: 'reasoning.text' as const, text, index: 0 });
    const summary = (text: string) => ({ type: 'reasoning.summary' as const, summary: text, index: 0 });

    it(
      'follows choice 0 of several that interleave, or the one that it is told to',
      marbles(({ cold, expectObservable }) => {
        const n2 = {
          a: chat.reasoning('red', { choice: 0 }),
          b: chat.reasoning('one', { choice: 1 }),
          c: chat.reasoning(' green', { choice: 0 }),
          d: chat.reasoning(' two', { choice: 1 }),
        };
        const e1 = cold('     -a-b-c-d-|', n2);
        const expected0 = '   -x---y---|';
        const expected1 = '   ---x---y-|';

        expectObservable(e1.pipe(reasoningDeltas())).toBe(expected0, { x: 'red', y: ' green' });
        expectObservable(e1.pipe(reasoningDeltas({ choice: 1 }))).toBe(expected1, { x: 'one', y: ' two' });
      }),
    );

    it(
      'reads reasoning_content, reasoning, reasoning_details and thinking parts',
      marbles(({ cold, expectObservable }) => {
        const part = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] } as const;
        const forms = [
          chat.delta({ reasoning_content: 'hm' }),
          chat.delta({ reasoning_content: '', reasoning: 'hm' }),
          chat.delta({ reasoning_details: [detail('hm')] }),
          chat.delta({ reasoning_details: [summary('hm')] }),
          chat.delta({ content: [part] }),
          chat.delta({ content: [{ type: 'thinking', thinking: 'hm' }] }),
        ];
        for (const a of forms) {
          const e1 = cold('   -a-|', { a });
          const expected = '  -x-|';

          expectObservable(e1.pipe(reasoningDeltas())).toBe(expected, pieces);
        }
      }),
    );

    it(
      'counts the same words in several fields of a delta once',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-|', {
          a: chat.delta({ reasoning: 'hm', reasoning_details: [detail('hm')] }),
          b: chat.delta({ reasoning_content: ', yes', reasoning: ', yes', reasoning_details: [detail(', yes')] }),
        });
        const expected = '    -x-y-|';

        expectObservable(e1.pipe(reasoningDeltas())).toBe(expected, pieces);
      }),
    );

    it(
      'reads the raw details where there are summaries beside them, and keeps to summaries where those came first',
      marbles(({ cold, expectObservable }) => {
        const events = {
          s: chat.delta({ reasoning_details: [summary('in short')] }),
          b: chat.delta({ reasoning_details: [summary('in short'), detail('hm')] }),
        };
        const e1 = cold('     -b-b-|', events);
        const e2 = cold('     -s-b-|', events);
        const expected = '    -x-x-|';

        expectObservable(e1.pipe(reasoningDeltas())).toBe(expected, { x: 'hm' });
        expectObservable(e2.pipe(reasoningDeltas())).toBe(expected, { x: 'in short' });
      }),
    );

    it(
      'keeps to the form in which reasoning came first, in each choice',
      marbles(({ cold, expectObservable }) => {
        const events = {
          a: chat.delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'AAAA' }] }),
          b: chat.delta({ reasoning: 'hm' }),
          c: chat.delta({ reasoning_details: [detail('hm'), summary('in short')] }),
          d: chat.delta({ reasoning_details: [summary('one')] }, { choice: 1 }),
        };
        const e1 = cold('     -a-b-c-d-|', events);
        const expected0 = '   ---x-----|';
        const expected1 = '   -------x-|';

        expectObservable(e1.pipe(reasoningDeltas())).toBe(expected0, { x: 'hm' });
        expectObservable(e1.pipe(reasoningDeltas({ choice: 1 }))).toBe(expected1, { x: 'one' });
      }),
    );
  });

  describe('on Responses', () => {
    const item = (raw: string, short: string) => ({
      type: 'reasoning' as const,
      id: 'rs_1',
      content: raw ? [{ type: 'reasoning_text' as const, text: raw }] : [],
      summary: short ? [{ type: 'summary_text' as const, text: short }] : [],
    });
    const own = (delta: string | object) => ({ type: 'response.reasoning.delta' as const, delta });
    const done = (text: string) => ({ type: 'response.reasoning.done' as const, text });

    it(
      'reads raw reasoning, a summary, and the form of a gateway of its own',
      marbles(({ cold, expectObservable }) => {
        const forms = [responses.reasoning('hm'), responses.reasoningSummary('hm'), own('hm'), own({ text: 'hm' })];
        for (const a of forms) {
          const e1 = cold('   -a-|', { a });
          const expected = '  -x-|';

          expectObservable(e1.pipe(reasoningDeltas())).toBe(expected, pieces);
        }
      }),
    );

    it(
      'knows every name that services have given it',
      marbles(({ cold, expectObservable }) => {
        const known = [
          { type: 'response.reasoning_text.done', text: 'hm' },
          { type: 'response.reasoning_summary_text.done', text: 'hm' },
          { type: 'response.reasoning_summary_part.done', part: { type: 'summary_text', text: 'hm' } },
          { type: 'response.reasoning_part.done', part: { type: 'reasoning_text', text: 'hm' } },
          { type: 'response.content_part.done', part: { type: 'reasoning_text', text: 'hm' } },
          { type: 'response.reasoning_summary.delta', delta: 'hm' },
          { type: 'response.reasoning_summary.delta', delta: { text: 'hm' } },
          { type: 'response.reasoning_content.delta', delta: 'hm' },
          { type: 'response.reasoning.delta', summary: 'hm' },
        ] as const;
        for (const a of known) {
          const e1 = cold('   -a-|', { a });
          const expected = '  -x-|';

          expectObservable(e1.pipe(reasoningDeltas())).toBe(expected, pieces);
        }
      }),
    );

    it(
      'takes text, audio and parts of unknown events for no reasoning',
      marbles(({ cold, expectObservable }) => {
        const others = [
          { type: 'response.content_part.done', part: { type: 'output_text', text: 'hm' } },
          { type: 'response.shiny_part.done', part: { type: 'reasoning_text', text: 'hm' } },
          { type: 'response.audio.delta', delta: 'hm' },
        ] as const;
        for (const a of others) {
          const e1 = cold('   -a-|', { a });
          const expected = '  ---|';

          expectObservable(e1.pipe(reasoningDeltas())).toBe(expected);
        }
      }),
    );

    it(
      'takes names that mean the same for one form',
      marbles(({ cold, expectObservable }) => {
        const raw = { type: 'response.reasoning_part.done', part: { type: 'reasoning_text', text: 'hm.' } } as const;
        const part = { type: 'response.content_part.done', part: { type: 'reasoning_text', text: 'hm.' } } as const;
        const short = {
          type: 'response.reasoning_summary_part.done',
          part: { type: 'summary_text', text: 'hm.' },
        } as const;
        const older = { type: 'response.reasoning_summary.done', text: 'hm.' } as const;
        const alias = { type: 'response.reasoning_content.done', text: 'hm.' } as const;

        const pairs = [
          [responses.reasoning('hm'), raw],
          [responses.reasoning('hm'), part],
          [responses.reasoningSummary('hm'), short],
          [responses.reasoningSummary('hm'), older],
          [own('hm'), alias],
        ] as const;
        for (const [a, b] of pairs) {
          const e1 = cold('   -a-b-|', { a, b });
          const expected = '  -x-y-|';

          expectObservable(e1.pipe(reasoningDeltas())).toBe(expected, { x: 'hm', y: '.' });
        }
      }),
    );

    it(
      'compares an item with the form that was read of it',
      marbles(({ cold, expectObservable }) => {
        const events = {
          r: responses.reasoning('in'),
          s: responses.reasoningSummary('in'),
          b: responses.itemDone(item('in fact', 'in short')),
          c: responses.itemDone(item('', 'in short')),
        };
        const e1 = cold('     -s-b-|', events);
        const e2 = cold('     -r-b-|', events);
        const expected = '    -x-y-|';
        const e3 = cold('     -r-c-|', events);
        const nothing = '     -x---|';

        expectObservable(e1.pipe(reasoningDeltas())).toBe(expected, { x: 'in', y: ' short' });
        expectObservable(e2.pipe(reasoningDeltas())).toBe(expected, { x: 'in', y: ' fact' });
        expectObservable(e3.pipe(reasoningDeltas())).toBe(nothing, { x: 'in' });
      }),
    );

    it(
      'keeps two parts of a summary apart, and joins those of an item',
      marbles(({ cold, expectObservable }) => {
        const part = (text: string, summary_index: number) =>
          ({ type: 'response.reasoning_summary_text.done', output_index: 0, summary_index, text }) as const;
        const parts = ['one', ' two'].map((text) => ({ type: 'summary_text' as const, text }));
        const whole = responses.itemDone({ type: 'reasoning', id: 'rs_1', summary: parts });
        const e1 = cold('     -a-b-|', { a: part('one', 0), b: part(' two', 1) });
        const expected1 = '   -x-y-|';
        const e2 = cold('     -a---|', { a: whole });
        const expected2 = '   -x---|';

        expectObservable(e1.pipe(reasoningDeltas())).toBe(expected1, { x: 'one', y: ' two' });
        expectObservable(e2.pipe(reasoningDeltas())).toBe(expected2, { x: 'one two' });
      }),
    );

    it(
      'follows one form of an item, the first that is seen',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-c-d-e-|', {
          a: responses.reasoningSummary('in short'),
          b: responses.reasoning('hm'),
          c: own('hm'),
          d: responses.reasoningSummary(', hm', { output_index: 0 }),
          e: responses.reasoning('then', { output_index: 1 }),
        });
        const expected = '    -x-----y-z-|';

        expectObservable(e1.pipe(reasoningDeltas())).toBe(expected, { x: 'in short', y: ', hm', z: 'then' });
      }),
    );

    it(
      'emits what only the end of it, the item, or the final response holds',
      marbles(({ cold, expectObservable }) => {
        const events = {
          a: own('h'),
          b: done('hm'),
          c: responses.itemDone(item('hm', 'in short')),
          d: responses.completed({ output: [item('', 'hm')] }),
        };
        const e1 = cold('     -b-------|', events);
        const e2 = cold('     -c-------|', events);
        const e3 = cold('     -d-------|', events);
        const expected = '    -x-------|';
        const e4 = cold('     -a-b-c-d-|', events);
        const theRest = '     -h-m-----|';

        expectObservable(e1.pipe(reasoningDeltas())).toBe(expected, pieces);
        expectObservable(e2.pipe(reasoningDeltas())).toBe(expected, pieces);
        expectObservable(e3.pipe(reasoningDeltas())).toBe(expected, pieces);
        expectObservable(e4.pipe(reasoningDeltas())).toBe(theRest);
      }),
    );

    it(
      'repeats nothing of what closes a turn',
      marbles(({ cold, expectObservable }) => {
        const turn = responses.turn('Yes.', { reasoning: ['hm', ', yes'] });
        const e1 = cold('     abcdefghijklmnop|', letters(turn));
        const expected = '    ----xy----------|';

        expectObservable(e1.pipe(reasoningDeltas())).toBe(expected, pieces);
        expect(turn).toHaveLength('abcdefghijklmnop'.length);
      }),
    );
  });

  describe('on Messages', () => {
    it(
      'reads thinking blocks, what they start with and what message_start holds',
      marbles(({ cold, expectObservable }) => {
        const block = (thinking: string) => ({ type: 'thinking' as const, thinking, signature: '' });
        const e1 = cold('     -a-b-c-d-e-|', {
          a: messages.start({ content: [block('o')] }),
          b: messages.blockStart(block('hm'), { index: 1 }),
          c: messages.reasoning(', yes', { index: 1 }),
          d: messages.signature('c2ln', { index: 1 }),
          e: messages.text('Yes.', { index: 2 }),
        });
        const expected = '    -w-x-y-----|';

        expectObservable(e1.pipe(reasoningDeltas())).toBe(expected, { w: 'o', ...pieces });
      }),
    );
  });
});
