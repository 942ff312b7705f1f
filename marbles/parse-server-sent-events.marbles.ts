import { concatMap, from, Observable, of, Subject, take, toArray } from 'rxjs';
import { EventTooLargeError, parseServerSentEvents, toServerSentEvents, type ServerSentEvent } from 'rx-llm';
import { chat, images, marbles, messages, responses, splitBytes, sse } from 'rx-llm/testing';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const event = (data: string): ServerSentEvent => ({ data });

const x = event('1');
const y = event('2');
const z = event('3');

describe('parseServerSentEvents', () => {
  it(
    'emits an event at its blank line',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --a--b----c--|', { a: 'data: 1\n', b: '\ndata', c: ': 2\n\n' });
      const e1subs = '        ^------------!';
      const expected = '      -----x----y--|';

      expectObservable(e1.pipe(parseServerSentEvents())).toBe(expected, { x, y });
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'emits all events of one read at once',
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('       --a------b--|', { a: 'data: 1\n\ndata: 2\n\nda', b: 'ta: 3\n\n' });
      const expected = '      --(xy)---z--|';

      expectObservable(e1.pipe(parseServerSentEvents())).toBe(expected, { x, y, z });
    }),
  );

  it(
    'reads bytes as it reads text, and both in turn',
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('       --a--b--c--|', { a: bytes('data: 1\n\n'), b: 'data: 2\n\n', c: bytes('data: 3\n\n') });
      const expected = '      --x--y--z--|';

      expectObservable(e1.pipe(parseServerSentEvents())).toBe(expected, { x, y, z });
    }),
  );

  it(
    'puts a character together that was cut between its bytes',
    marbles(({ cold, expectObservable }) => {
      const whole = bytes('data: 漢\n\n');
      const e1 = cold('       --a--b--|', { a: whole.subarray(0, 7), b: whole.subarray(7) });
      const expected = '      -----x--|';

      expectObservable(e1.pipe(parseServerSentEvents())).toBe(expected, { x: event('漢') });
    }),
  );

  it(
    'takes CR, LF and CRLF for the end of a line, without waiting for what may follow a CR',
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('       --a--b--c--|', { a: 'data: 1\r\r', b: '\ndata: 2\n\n', c: 'data: 3\r\n\r\n' });
      const expected = '      --x--y--z--|';

      expectObservable(e1.pipe(parseServerSentEvents())).toBe(expected, { x, y, z });
    }),
  );

  it(
    'skips a byte order mark, even one that comes in pieces',
    marbles(({ cold, expectObservable }) => {
      const whole = bytes('\ufeffdata: 1\n\n');
      const e1 = cold('       --a--b--|', { a: whole.subarray(0, 2), b: whole.subarray(2) });
      const expected = '      -----x--|';

      expectObservable(e1.pipe(parseServerSentEvents())).toBe(expected, { x });
    }),
  );

  it(
    'gives name, id and retry with their event, and joins several lines of data',
    marbles(({ cold, expectObservable }) => {
      const a = 'event: ping\nid: 7\nretry: 50\ndata: 1\ndata: 2\n\n';
      const e1 = cold('       --a--b--|', { a, b: 'data: 3\n\n' });
      const expected = '      --x--z--|';

      const ping = { type: 'ping', id: '7', retry: 50, data: '1\n2' };
      expectObservable(e1.pipe(parseServerSentEvents())).toBe(expected, { x: ping, z });
    }),
  );

  it(
    'emits nothing for comments and for fields without data',
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('       --a--b--c--|', { a: ': keepalive\n\n', b: 'event: ping\n\n', c: 'data: 1\n\n' });
      const expected = '      --------x--|';

      expectObservable(e1.pipe(parseServerSentEvents())).toBe(expected, { x });
    }),
  );

  it(
    'emits comments as events of their own where they are wanted',
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('       --a--b----|', { a: ': keepalive\n\n', b: ': in between\ndata: 1\n\n' });
      const expected = '      --c--(dx)-|';

      expectObservable(e1.pipe(parseServerSentEvents({ comments: true }))).toBe(expected, {
        c: { comment: 'keepalive' },
        d: { comment: 'in between' },
        x,
      });
    }),
  );

  describe('at the end', () => {
    it.each([
      ['an object', '{"a":1}'],
      ['a list', '[1,2]'],
      ['a string', '"a"'],
      ['[DONE]', '[DONE]'],
    ])('emits an event without its blank line if its data is whole: %s', (_, data) => {
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('       --a---|   ', { a: `data: ${data}` });
        const expected = '      ------(x|)';

        expectObservable(e1.pipe(parseServerSentEvents())).toBe(expected, { x: event(data) });
      })();
    });

    it.each([
      ['half an object', '{"a":'],
      ['half a string', '"a'],
      ['a number, of which more may have been to come', '5'],
      ['words', 'hello'],
    ])('drops an event without its blank line that may have been cut: %s', (_, data) => {
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('       --a---|', { a: `data: ${data}` });
        const expected = '      ------|';

        expectObservable(e1.pipe(parseServerSentEvents())).toBe(expected);
      })();
    });

    it(
      'completes with its source when nothing has come, and when what has come is empty',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -----|');
        const e2 = cold('       --a--|', { a: '' });
        const subs = '          ^----!';
        const expected = '      -----|';

        expectObservable(e1.pipe(parseServerSentEvents())).toBe(expected);
        expectObservable(e2.pipe(parseServerSentEvents())).toBe(expected);
        expectSubscriptions(e1.subscriptions).toBe(subs);
        expectSubscriptions(e2.subscriptions).toBe(subs);
      }),
    );
  });

  describe('errors', () => {
    it(
      'passes on an error of its source, and drops what was not over',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --a--b--#', { a: 'data: 1\n\n', b: 'data: {}\n' });
        const e1subs = '        ^-------!';
        const expected = '      --x-----#';

        expectObservable(e1.pipe(parseServerSentEvents())).toBe(expected, { x });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'fails at the byte that makes an event too large, before its end has come, and leaves the source',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --a--b--c--d--|', { a: 'data: 1\n\n', b: 'data: ', c: '12345', d: '\n\n' });
        const e1subs = '        ^-------!      ';
        const expected = '      --x-----#      ';

        const tooLarge = new EventTooLargeError(
          'A server-sent event is larger than 10 bytes. Raise `maxEventBytes` if that is right.',
        );
        expectObservable(e1.pipe(parseServerSentEvents({ maxEventBytes: 10 }))).toBe(expected, { x }, tooLarge);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'counts bytes and not characters, and each event on its own',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --a--a--b--|', { a: bytes('data:12345\n\n'), b: bytes('data:漢漢漢漢漢\n\n') });
        const e1subs = '        ^-------!   ';
        const expected = '      --x--x--#   ';

        const tooLarge = new EventTooLargeError(
          'A server-sent event is larger than 14 bytes. Raise `maxEventBytes` if that is right.',
        );
        const read = e1.pipe(parseServerSentEvents({ maxEventBytes: 14 }));
        expectObservable(read).toBe(expected, { x: event('12345') }, tooLarge);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );
  });

  describe('unsubscribing', () => {
    it(
      'leaves the source at once',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --a--b--c--|', { a: 'data: 1\n\n', b: 'data: 2\n', c: '\n' });
        const e1subs = '        ^-----!     ';
        const unsub = '         ------!     ';
        const expected = '      --x----     ';

        expectObservable(e1.pipe(parseServerSentEvents()), unsub).toBe(expected, { x });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'does not break the chain of subscriptions when the result is unsubscribed from',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --a--b--c--|', { a: 'data: 1\n\n', b: 'data: 2\n', c: '\n' });
        const e1subs = '        ^-----!     ';
        const unsub = '         ------!     ';
        const expected = '      --x----     ';

        const result = e1.pipe(
          concatMap((chunk) => of(chunk)),
          parseServerSentEvents(),
          concatMap((parsed) => of(parsed)),
        );
        expectObservable(result, unsub).toBe(expected, { x });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'emits nothing more of a read in the middle of which it is unsubscribed from',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --a--b--|', { a: 'data: 1\n\ndata: 2\n\n', b: 'data: 3\n\n' });
        const e1subs = '        ^-!      ';
        const expected = '      --(x|)   ';

        expectObservable(e1.pipe(parseServerSentEvents(), take(1))).toBe(expected, { x });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it('stops a synchronous source', () => {
      let reads = 0;
      const endless = new Observable<string>((subscriber) => {
        while (!subscriber.closed && reads < 100) {
          reads++;
          subscriber.next('data: 1\n\n');
        }
      });
      const seen: ServerSentEvent[] = [];
      endless.pipe(parseServerSentEvents(), take(2)).subscribe((parsed) => seen.push(parsed));

      expect(seen).toEqual([x, x]);
      expect(reads).toBe(2);
    });
  });

  it(
    'keeps nothing of one subscription for the next',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --a--b--|     ', { a: 'data: 1\n', b: 'data: 2\n\n' });
      const e1subs1 = '       ^---!         ';
      const e1subs2 = '       -----^-------!';
      const sub1 = '          ^---!         ';
      const sub2 = '          -----^--------';
      const expected1 = '     -----         ';
      const expected2 = '     ----------w--|';

      const result = e1.pipe(parseServerSentEvents());
      expectObservable(result, sub1).toBe(expected1);
      expectObservable(result, sub2).toBe(expected2, { w: event('1\n2') });
      expectSubscriptions(e1.subscriptions).toBe([e1subs1, e1subs2]);
    }),
  );

  it('reads what comes in while an event is being emitted after what was there before', () => {
    const source = new Subject<string>();
    const seen: ServerSentEvent[] = [];
    source.pipe(parseServerSentEvents()).subscribe((parsed) => {
      seen.push(parsed);
      if (seen.length === 1) source.next('ta: 3\n\n');
    });
    source.next('data: 1\n\ndata: 2\n\nda');

    expect(seen).toEqual([x, y, z]);
  });

  it('emits the rest of a read when its source completes while an event is being emitted', () => {
    const source = new Subject<string>();
    const seen: (ServerSentEvent | '|')[] = [];
    source.pipe(parseServerSentEvents()).subscribe({
      next(parsed) {
        seen.push(parsed);
        source.complete();
      },
      complete: () => seen.push('|'),
    });
    source.next('data: 1\n\ndata: 2\n\ndata: {}');

    expect(seen).toEqual([x, y, event('{}'), '|']);
  });

  it.each([
    ['Chat Completions', chat.turn('Hi')],
    ['Responses', responses.turn('Hi')],
    ['Messages', messages.turn('Hi')],
    ['Images', images.turn('aGk=')],
  ])('reads back the frames of an answer, cut anywhere: %s', (_, events) => {
    marbles(({ cold, expectObservable }) => {
      const e1 = cold('       --a--|   ', { a: sse.whole(events) });
      const expected = '      -----(x|)';

      const frames: ServerSentEvent[] = [];
      from<object[]>(events)
        .pipe(toServerSentEvents())
        .subscribe((frame) => frames.push(frame));
      const result = e1.pipe(
        concatMap((whole) => splitBytes(whole, 5)),
        parseServerSentEvents(),
        toArray(),
      );
      expectObservable(result).toBe(expected, { x: frames });
    })();
  });
});
