import { mergeMap, of, Subject, take, tap } from 'rxjs';
import { accumulateText, TruncatedStreamError } from 'rx-llm';
import { chat, marbles, messages, responses } from 'rx-llm/testing';

describe('accumulateText', () => {
  // r: the role; h, l, w: text; f: the finish reason
  const values = {
    r: chat.role(),
    h: chat.text('Hel'),
    l: chat.text('lo'),
    w: chat.text(' world'),
    f: chat.finish('stop'),
  };
  const soFar = { x: 'Hel', y: 'Hello', z: 'Hello world' };

  it(
    'emits the text so far after each piece, and completes with the source',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -r-h-l-w-f-|');
      const e1subs = '        ^----------!';
      const expected = '      ---x-y-z---|';

      expectObservable(e1.pipe(accumulateText())).toBe(expected, soFar);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'emits nothing where there is no text, or nothing at all',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -r-f-|');
      const e2 = cold('       -----|');
      const subs = '          ^----!';
      const expected = '      -----|';

      expectObservable(e1.pipe(accumulateText())).toBe(expected);
      expectObservable(e2.pipe(accumulateText())).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(subs);
      expectSubscriptions(e2.subscriptions).toBe(subs);
    }),
  );

  it(
    'passes an error on, after the text that came before it',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const error = new TruncatedStreamError('cut');
      const e1 = cold('       -r-h-l-#', undefined, error);
      const e1subs = '        ^------!';
      const expected = '      ---x-y-#';

      expectObservable(e1.pipe(accumulateText())).toBe(expected, soFar, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'unsubscribes from the source when it is unsubscribed from, through a chain as well',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -r-h-l-w-|');
      const e1subs = '        ^---!     ';
      const unsub = '         ----!     ';
      const expected = '      ---x-     ';

      const result = e1.pipe(
        mergeMap((event) => of(event)),
        accumulateText(),
        mergeMap((text) => of(text)),
      );
      expectObservable(result, unsub).toBe(expected, soFar);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'gives each subscriber a text of its own',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -h-l-|  ');
      const e1subs1 = '       ^----!  ';
      const e1subs2 = '       --^----!';
      const sub1 = '          ^       ';
      const sub2 = '          --^     ';
      const expected1 = '     -x-y-|  ';
      const expected2 = '     ---x-y-|';

      const result = e1.pipe(accumulateText());
      expectObservable(result, sub1).toBe(expected1, soFar);
      expectObservable(result, sub2).toBe(expected2, soFar);
      expectSubscriptions(e1.subscriptions).toBe([e1subs1, e1subs2]);
    }),
  );

  it('stops a synchronous source at once', () => {
    const read: unknown[] = [];
    of(values.h, values.l, values.w)
      .pipe(
        tap((event) => read.push(event)),
        accumulateText(),
        take(2),
      )
      .subscribe();

    expect(read).toEqual([values.h, values.l]);
  });

  it('reads an event that comes while another is being delivered', () => {
    const source = new Subject<(typeof values)['h']>();
    const seen: string[] = [];
    source.pipe(accumulateText()).subscribe((text) => {
      seen.push(text);
      if (text === 'Hel') source.next(values.l);
    });
    source.next(values.h);

    expect(seen).toEqual(['Hel', 'Hello']);
  });

  it(
    'follows choice 0 of several that interleave, or the one that it is told to',
    marbles(({ cold, expectObservable }) => {
      const n2 = {
        a: chat.text('red', { choice: 0 }),
        b: chat.text('one', { choice: 1 }),
        c: chat.text(' green', { choice: 0 }),
        d: chat.text(' two', { choice: 1 }),
      };
      const e1 = cold('       -a-b-c-d-|', n2);
      const expected0 = '     -x---y---|';
      const expected1 = '     ---x---y-|';

      expectObservable(e1.pipe(accumulateText())).toBe(expected0, { x: 'red', y: 'red green' });
      expectObservable(e1.pipe(accumulateText({ choice: 1 }))).toBe(expected1, { x: 'one', y: 'one two' });
    }),
  );

  it(
    'reads Responses and Messages',
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('       -a-b-|', { a: responses.text('Hel'), b: responses.textDone('Hello') });
      const e2 = cold('       -a-b-|', { a: messages.text('Hel'), b: messages.text('lo') });
      const expected = '      -x-y-|';

      expectObservable(e1.pipe(accumulateText())).toBe(expected, soFar);
      expectObservable(e2.pipe(accumulateText())).toBe(expected, soFar);
    }),
  );
});
