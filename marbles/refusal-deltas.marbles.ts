import { mergeMap, of, Subject, take, tap } from 'rxjs';
import { refusalDeltas, StreamEventError } from 'rx-llm';
import { chat, marbles, responses } from 'rx-llm/testing';

describe('refusalDeltas', () => {
  // r: the role; n, o: a refusal; t: text; f: the finish reason
  const values = {
    r: chat.role(),
    n: chat.refusal('I can not'),
    o: chat.refusal(' help.'),
    t: chat.text('Sorry.'),
    f: chat.finish('stop'),
  };
  const pieces = { x: 'I can not', y: ' help.' };

  it(
    'emits each piece of a refusal as it comes, and completes with the source',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -r-n-o-t-f-|');
      const e1subs = '        ^----------!';
      const expected = '      ---x-y-----|';

      expectObservable(e1.pipe(refusalDeltas())).toBe(expected, pieces);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'emits nothing where nothing is refused, and where the field holds no text',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const none = { a: chat.delta({ refusal: null }), b: chat.delta({ refusal: false }) };
      const e1 = cold('       -t-a-b-|', { ...values, ...none });
      const e2 = cold('       -------|');
      const subs = '          ^------!';
      const expected = '      -------|';

      expectObservable(e1.pipe(refusalDeltas())).toBe(expected);
      expectObservable(e2.pipe(refusalDeltas())).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(subs);
      expectSubscriptions(e2.subscriptions).toBe(subs);
    }),
  );

  it(
    'passes an error on, after what came before it',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const error = new StreamEventError('overloaded');
      const e1 = cold('       -r-n-#', undefined, error);
      const e1subs = '        ^----!';
      const expected = '      ---x-#';

      expectObservable(e1.pipe(refusalDeltas())).toBe(expected, pieces, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'unsubscribes from the source when it is unsubscribed from, through a chain as well',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -r-n-o-f-|');
      const e1subs = '        ^---!     ';
      const unsub = '         ----!     ';
      const expected = '      ---x-     ';

      const result = e1.pipe(
        mergeMap((event) => of(event)),
        refusalDeltas(),
        mergeMap((piece) => of(piece)),
      );
      expectObservable(result, unsub).toBe(expected, pieces);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it('stops a synchronous source at once', () => {
    const read: unknown[] = [];
    of(values.n, values.o, values.f)
      .pipe(
        tap((event) => read.push(event)),
        refusalDeltas(),
        take(1),
      )
      .subscribe();

    expect(read).toEqual([values.n]);
  });

  it('reads an event that comes while another is being delivered', () => {
    const source = new Subject<(typeof values)['n']>();
    const seen: string[] = [];
    source.pipe(refusalDeltas()).subscribe((piece) => {
      seen.push(piece);
      if (seen.length === 1) source.next(values.o);
    });
    source.next(values.n);

    expect(seen).toEqual(['I can not', ' help.']);
  });

  it(
    'follows choice 0 of several that interleave, or the one that it is told to',
    marbles(({ cold, expectObservable }) => {
      const n2 = {
        a: chat.refusal('no', { choice: 0 }),
        b: chat.refusal('never', { choice: 1 }),
        c: chat.refusal(', sorry', { choice: 0 }),
        d: chat.refusal(' ever', { choice: 1 }),
      };
      const e1 = cold('       -a-b-c-d-|', n2);
      const expected0 = '     -x---y---|';
      const expected1 = '     ---x---y-|';

      expectObservable(e1.pipe(refusalDeltas())).toBe(expected0, { x: 'no', y: ', sorry' });
      expectObservable(e1.pipe(refusalDeltas({ choice: 1 }))).toBe(expected1, { x: 'never', y: ' ever' });
    }),
  );

  describe('on Responses', () => {
    const refused = (refusal: string) => ({
      type: 'message' as const,
      id: 'msg_1',
      role: 'assistant' as const,
      content: [{ type: 'refusal' as const, refusal }],
    });

    it(
      'emits deltas, and of what closes them only what is new',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-c-d-|', {
          a: responses.refusal('I can not'),
          b: { type: 'response.refusal.done', output_index: 0, content_index: 0, refusal: 'I can not help.' },
          c: responses.itemDone(refused('I can not help.')),
          d: responses.completed({ output: [refused('I can not help.')] }),
        } as const);
        const expected = '    -x-y-----|';

        expectObservable(e1.pipe(refusalDeltas())).toBe(expected, pieces);
      }),
    );

    it(
      'emits a refusal that only the final response holds, and no text for one',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('     -a-b-|', {
          a: responses.text('Sorry.'),
          b: responses.completed({ output: [refused('I can not')] }),
        });
        const expected = '    ---x-|';

        expectObservable(e1.pipe(refusalDeltas())).toBe(expected, pieces);
      }),
    );
  });
});
