import { concat, map, NEVER, Observable, of, Subject, take } from 'rxjs';
import {
  ConnectionError,
  HttpResponseError,
  retryBeforeFirstToken,
  StreamEventError,
  StreamTimeoutError,
  textDeltas,
  toServerSentEvents,
  TruncatedStreamError,
  type ServerSentEvent,
} from 'rx-llm';
import { chat, images, marbles, messages, responses } from 'rx-llm/testing';

const json = JSON.stringify;
/** A frame without a name. */
const plain = (event: object): ServerSentEvent => ({ data: json(event) });
/** A frame that has its event's type for a name. */
const named = (event: object): ServerSentEvent => ({ type: (event as { type: string }).type, data: json(event) });

const D = { data: '[DONE]' };
const K = { comment: 'keepalive' };
const cut = new TruncatedStreamError('messages: https://10.0.0.1/v1 ended the stream. Check it.', { retryable: true });

describe('toServerSentEvents', () => {
  describe('on Chat Completions', () => {
    // r: the role chunk, which is no token
    const events = { r: chat.role(), a: chat.text('Hel'), b: chat.text('lo'), e: chat.finish('stop') };
    const frames = { R: plain(events.r), A: plain(events.a), B: plain(events.b), E: plain(events.e), D };
    const failed = {
      F: plain({
        error: { message: 'The answer broke off before it was complete', type: 'server_error', code: 'truncated' },
      }),
    };

    it(
      'emits the JSON of each event without a name, and [DONE] at completion',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --a--b--e--|   ');
        const e1subs = '        ^----------!   ';
        const expected = '      --A--B--E--(D|)';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, frames);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'holds back what comes before the first token until it comes',
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       -r---a----b--|   ');
        const expected = '      -----(RA)-B--(D|)';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, frames);
      }),
    );

    it(
      'emits what it held when the answer ends without a token',
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       -r--e--|      ');
        const expected = '      -------(RED|) ';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, frames);
      }),
    );

    it(
      'passes on an error before the first token, and drops what it held',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -r--#', undefined, cut);
        const e1subs = '        ^---!';
        const expected = '      ----#';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, undefined, cut);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'turns an error after the first token into an error chunk and [DONE], then completes',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -r--a----b--#    ', undefined, cut);
        const e1subs = '        ^-----------!    ';
        const expected = '      ----(RA)-B--(FD|)';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, { ...frames, ...failed });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'does not tell a failure again that the last chunk has told',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const x = { ...chat.text('Hel'), error: { message: 'Overloaded', code: 529 } };
        const error = new StreamEventError('Overloaded', { code: 529, event: x });
        const e1 = cold('       --x#    ', { x }, error);
        const e1subs = '        ^--!   ';
        const expected = '      --X(D|)';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, { X: plain(x), D });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'tells type and code of the failure as the gateway did, and nothing else of it',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const error = new StreamEventError('The gateway failed (529): Overloaded', {
          type: 'overloaded_error',
          code: 529,
          retryable: true,
          providerMessage: 'Overloaded',
          cause: new Error('secret'),
          requestId: 'req_1',
        });
        const e1 = cold('       --a--#    ', undefined, error);
        const e1subs = '        ^----!    ';
        const expected = '      --A--(FD|)';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, {
          ...frames,
          F: plain({ error: { message: 'Overloaded', type: 'overloaded_error', code: 529 } }),
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'keeps the address of the gateway to itself',
      marbles(events, ({ cold, expectObservable }) => {
        const address = 'chatCompletions: http://10.0.0.1/v1/chat/completions';
        const error = new StreamEventError(
          `${address} reported a failure in the stream: No tools. See https://a.example`,
          {
            providerMessage: 'No tools. See https://a.example',
          },
        );
        const e1 = cold('       --a--#    ', undefined, error);
        const expected = '      --A--(FD|)';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, {
          ...frames,
          F: plain({ error: { message: 'No tools. See …', type: 'invalid_request_error', code: 'in-band' } }),
        });
      }),
    );

    it.each([
      new Error('password: hunter2'),
      Object.assign(new Error('password: hunter2'), { kind: 'http' }),
      { kind: 'http', tokenSeen: true, message: 'password: hunter2' },
      'password: hunter2',
    ])('tells nothing of an error that is none of this library: %p', (error) => {
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       --a--#    ', undefined, error);
        const expected = '      --A--(FD|)';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, {
          ...frames,
          F: plain({ error: { message: 'The stream failed', type: 'server_error', code: 'internal_error' } }),
        });
      })();
    });

    it(
      'knows an error of another copy of the package by its shape',
      marbles(events, ({ cold, expectObservable }) => {
        const foreign = Object.assign(new Error('Too slow'), { kind: 'timeout', tokenSeen: true });
        const e1 = cold('       --a--#    ', undefined, foreign);
        const expected = '      --A--(FD|)';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, {
          ...frames,
          F: plain({ error: { message: 'The answer took too long', type: 'timeout_error', code: 'timeout' } }),
        });
      }),
    );
  });

  describe('on Responses', () => {
    const [c, a, b, d] = responses.numbered([
      responses.created(),
      responses.text('Hel'),
      responses.text('lo'),
      responses.completed(),
    ]) as [ReturnType<typeof responses.created>, ...ReturnType<typeof responses.text>[]];
    const events = { c, a: a!, b: b!, d: d! };
    const frames = { C: named(events.c), A: named(events.a), B: named(events.b), E: named(events.d) };

    it(
      'names each frame by its type, and ends without [DONE]',
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       -c--a----b--d|');
        const expected = '      ----(CA)-B--E|';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, frames);
      }),
    );

    it(
      'turns an error after the first token into an error event with the next sequence number',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const error = new StreamTimeoutError('No bytes for 5 s', 'idle', { retryable: true });
        const e1 = cold('       --a--b--#   ', undefined, error);
        const e1subs = '        ^-------!   ';
        const expected = '      --A--B--(F|)';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, {
          ...frames,
          F: named({
            type: 'error',
            code: 'timeout',
            message: 'The answer took too long',
            param: null,
            error: { type: 'timeout_error', code: 'timeout', message: 'The answer took too long', param: null },
            sequence_number: 3,
          }),
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'adds no error event to a response.failed',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const x = responses.failed('No capacity');
        const e1 = cold('       --a--x#', { ...events, x }, new StreamEventError('No capacity', { event: x }));
        const e1subs = '        ^-----!';
        const expected = '      --A--X|';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, { ...frames, X: named(x) });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'makes the sequence number the id, if ids are wanted',
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       --a--b--#   ', undefined, cut);
        const expected = '      --A--B--(F|)';

        expectObservable(e1.pipe(toServerSentEvents({ ids: true }))).toBe(expected, {
          A: { id: '1', ...frames.A },
          B: { id: '2', ...frames.B },
          F: {
            id: '3',
            ...named({
              type: 'error',
              code: 'truncated',
              message: 'The answer broke off before it was complete',
              param: null,
              error: {
                type: 'server_error',
                code: 'truncated',
                message: 'The answer broke off before it was complete',
                param: null,
              },
              sequence_number: 3,
            }),
          },
        });
      }),
    );
  });

  describe('on Messages', () => {
    const events = { s: messages.start(), p: messages.ping(), a: messages.text('Hel'), z: messages.stop() };
    const frames = { S: named(events.s), P: named(events.p), A: named(events.a), Z: named(events.z) };

    it(
      'names each frame by its type, pings too, and ends without [DONE]',
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       -s-a----p--z|');
        const expected = '      ---(SA)-P--Z|';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, frames);
      }),
    );

    it(
      'turns an error after the first token into an error event',
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       --a--#   ', undefined, cut);
        const expected = '      --A--(F|)';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, {
          ...frames,
          F: named({
            type: 'error',
            error: { type: 'api_error', message: 'The answer broke off before it was complete' },
          }),
        });
      }),
    );
  });

  describe('on Images', () => {
    const events = { p: images.partial('aGk='), c: images.completed('aGkh') };
    const frames = { P: named(events.p), C: named(events.c), D };

    it(
      'names each frame by its type, and ends with [DONE]',
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       --p--c--|   ');
        const expected = '      --P--C--(D|)';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, frames);
      }),
    );

    it(
      'turns an error after the first frame into an error event and [DONE]',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --p--#    ', undefined, cut);
        const e1subs = '        ^----!    ';
        const expected = '      --P--(FD|)';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, {
          ...frames,
          F: named({
            type: 'error',
            error: { message: 'The answer broke off before it was complete', type: 'server_error', code: 'truncated' },
          }),
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );
  });

  describe('with keepAliveMs', () => {
    const events = { r: chat.role(), a: chat.text('Hel'), b: chat.text('lo') };
    const frames = { R: plain(events.r), A: plain(events.a), B: plain(events.b), D, K };
    const config = { keepAliveMs: 5 };

    it(
      'emits a comment whenever nothing came for so long',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       -a-b-----------a--|   ');
        const e1subs = '        ^-----------------!   ';
        const expected = '      -A-B----K----K-A--(D|)';

        expectObservable(e1.pipe(toServerSentEvents(config))).toBe(expected, frames);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'keeps alive what has not begun yet, too',
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       -------------a|   ');
        const expected = '      -----K----K--A(D|)';

        expectObservable(e1.pipe(toServerSentEvents(config))).toBe(expected, frames);
      }),
    );

    it(
      'lets go of what is held back, in the place of the first comment',
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       --r---------a|   ');
        const expected = '      -----R----K-A(D|)';

        expectObservable(e1.pipe(toServerSentEvents(config))).toBe(expected, frames);
      }),
    );

    it(
      'turns an error into a frame once a comment has been emitted, though no event told the endpoint',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --------#   ', undefined, cut);
        const e1subs = '        ^-------!   ';
        const expected = '      -----K--(F|)';

        expectObservable(e1.pipe(toServerSentEvents(config))).toBe(expected, {
          K,
          F: named({
            type: 'error',
            error: { message: 'The answer broke off before it was complete', type: 'server_error', code: 'truncated' },
          }),
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'stops with the subscription',
      marbles(({ expectObservable }) => {
        const unsub = '         ------------!  ';
        const expected = '      -----K----K----';

        expectObservable(NEVER.pipe(toServerSentEvents(config)), unsub).toBe(expected, { K });
      }),
    );

    it(
      'keeps time by the scheduler it is given',
      marbles(events, ({ cold, expectObservable }) => {
        // A clock that stands still never finds that it is time.
        const stopped = { now: () => 0, schedule: () => NEVER.subscribe() };
        const e1 = cold('       -a-------------|   ');
        const expected = '      -A-------------(D|)';

        const result = e1.pipe(toServerSentEvents({ ...config, scheduler: stopped }));
        expectObservable(result).toBe(expected, frames);
      }),
    );

    it.each([0, -1, NaN, Infinity])('of %d is off', (keepAliveMs) => {
      marbles(({ cold, expectObservable }) => {
        // A real timer would take `Infinity` for at once.
        const scheduler = { now: () => 0, schedule: () => of().subscribe(() => undefined) };
        const schedule = jest.spyOn(scheduler, 'schedule');
        const e1 = cold('       ----------');
        const unsub = '         ---------!';
        const expected = '      ----------';

        expectObservable(e1.pipe(toServerSentEvents({ keepAliveMs, scheduler })), unsub).toBe(expected);
        expect(schedule).not.toHaveBeenCalled();
      })();
    });
  });

  describe('with other settings', () => {
    const events = { r: chat.role(), a: chat.text('Hel'), b: chat.text('lo') };
    const frames = { R: plain(events.r), A: plain(events.a), B: plain(events.b), D };

    it(
      "emits everything as it comes with preamble: 'passthrough', so that each error but the first notification is a frame",
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       -r--#    ', undefined, cut);
        const expected1 = '     -R--(FD|)';
        const e2 = cold('       ----#    ', undefined, cut);
        const expected2 = '     ----#    ';

        const passthrough = toServerSentEvents({ preamble: 'passthrough' });
        expectObservable(e1.pipe(passthrough)).toBe(expected1, {
          ...frames,
          F: plain({
            error: { message: 'The answer broke off before it was complete', type: 'server_error', code: 'truncated' },
          }),
        });
        expectObservable(e2.pipe(passthrough)).toBe(expected2, undefined, cut);
      }),
    );

    it(
      'adds nothing to an error event of an endpoint that is not known',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const x = messages.error('Overloaded');
        const e1 = cold('       -x--#', { x }, cut);
        const e1subs = '        ^---!';
        const expected = '      -X--|';

        const result = e1.pipe(toServerSentEvents({ preamble: 'passthrough' }));
        expectObservable(result).toBe(expected, { X: named(x) });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'counts ids from 0 where the wire has no numbers',
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       -r--a----b|   ');
        const expected = '      ----(RA)-B(D|)';

        expectObservable(e1.pipe(toServerSentEvents({ ids: true }))).toBe(expected, {
          R: { id: '0', ...frames.R },
          A: { id: '1', ...frames.A },
          B: { id: '2', ...frames.B },
          D,
        });
      }),
    );

    it(
      'ends an empty answer as the endpoint does, if it is told which one it is',
      marbles(({ cold, expectObservable }) => {
        const e1 = cold('       --|   ');
        const expected1 = '     --|   ';
        const expected2 = '     --(D|)';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected1);
        expectObservable(e1.pipe(toServerSentEvents({ endpoint: 'chatCompletions' }))).toBe(expected2, { D });
      }),
    );
  });

  describe('whatever comes', () => {
    const events = { a: chat.text('Hel'), b: chat.text('lo') };
    const frames = { A: plain(events.a), B: plain(events.b), D };

    it(
      'relays events of unknown type, which are tokens',
      marbles(({ cold, expectObservable }) => {
        const x = { type: 'something.new', value: 1 };
        const e1 = cold('       --x--|', { x });
        const expected = '      --X--|';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, { X: named(x) });
      }),
    );

    it(
      'makes no name of a type that could begin a line of its own',
      marbles(({ cold, expectObservable }) => {
        const x = { type: 'a\ndata: b' };
        const e1 = cold('       --x--|', { x });
        const expected = '      --X--|';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, { X: plain(x) });
      }),
    );

    it(
      'takes strings for data as it stands',
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       --a--b--|');
        const expected = '      --x--y--|';

        const result = e1.pipe(textDeltas(), toServerSentEvents());
        expectObservable(result).toBe(expected, { x: { data: 'Hel' }, y: { data: 'lo' } });
      }),
    );

    it(
      'writes any other value as JSON, an object of your own too, and undefined and bigints as their text',
      marbles(({ cold, expectObservable }) => {
        const values: Record<string, unknown> = { n: 1, u: undefined, o: { mine: true }, g: 9n };
        const e1 = cold('       -n-u-o-g-|', values);
        const expected = '      -n-u-o-g-|';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, {
          n: { data: '1' },
          u: { data: 'undefined' },
          o: { data: '{"mine":true}' },
          g: { data: '9' },
        });
      }),
    );

    it(
      'takes a value that has no JSON for a failure of the source',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const circular: { self?: object } = {};
        circular.self = circular;
        const e1 = cold('       --a--x--b|  ', { ...events, x: circular });
        const e1subs = '        ^----!      ';
        const expected1 = '     --A--(FD|)  ';
        const e2 = cold('       --x--b|     ', { ...events, x: circular });
        const e2subs = '        ^-!         ';
        const expected2 = '     --#         ';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected1, {
          ...frames,
          F: plain({ error: { message: 'The stream failed', type: 'server_error', code: 'internal_error' } }),
        });
        expectObservable(e2.pipe(toServerSentEvents())).toBe(expected2, undefined, expect.any(TypeError));
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
        expectSubscriptions(e2.subscriptions).toBe(e2subs);
      }),
    );

    it(
      'reads nothing out of null and oddities',
      marbles(({ cold, expectObservable }) => {
        const values: Record<string, unknown> = { n: null, t: { type: 7 }, l: [1] };
        const e1 = cold('       -n-t-l-|', values);
        const expected = '      -n-t-l-|';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, {
          n: { data: 'null' },
          t: { data: '{"type":7}' },
          l: { data: '[1]' },
        });
      }),
    );
  });

  describe('as an operator', () => {
    const events = { a: chat.text('Hel'), b: chat.text('lo') };
    const frames = { A: plain(events.a), B: plain(events.b), D };

    it(
      'passes on an error that comes first, unchanged',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const busy = new HttpResponseError('busy', { status: 503 });
        const e1 = cold('       --#', undefined, busy);
        const e1subs = '        ^-!';
        const expected = '      --#';

        expectObservable(e1.pipe(toServerSentEvents())).toBe(expected, undefined, busy);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'unsubscribes from the source when it is unsubscribed from',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --a--b--a--|');
        const e1subs = '        ^-----!     ';
        const expected = '      --A--B-     ';
        const unsub = '         ------!     ';

        expectObservable(e1.pipe(toServerSentEvents()), unsub).toBe(expected, frames);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'does not break the chain of unsubscription',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --a--b--a--|');
        const e1subs = '        ^-----!     ';
        const expected = '      --A--B-     ';
        const unsub = '         ------!     ';

        const result = e1.pipe(
          map((event) => event),
          toServerSentEvents(),
          map((frame) => frame),
        );
        expectObservable(result, unsub).toBe(expected, frames);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it('stops a synchronous source in the middle', () => {
      let produced = 0;
      const endless = new Observable<object>((subscriber) => {
        while (!subscriber.closed) {
          produced++;
          subscriber.next(events.a);
        }
      });
      const seen: ServerSentEvent[] = [];
      endless.pipe(toServerSentEvents(), take(2)).subscribe((frame) => seen.push(frame));
      expect(seen).toEqual([frames.A, frames.A]);
      expect(produced).toBe(2);
    });

    it('keeps the order of events that come while one is being delivered', () => {
      const source = new Subject<object>();
      const seen: ServerSentEvent[] = [];
      source.pipe(toServerSentEvents()).subscribe((frame) => {
        seen.push(frame);
        if (frame.data === frames.A.data) source.next(events.b);
      });
      source.next(events.a);
      source.complete();
      expect(seen).toEqual([frames.A, frames.B, D]);
    });

    it('keeps the order also while it lets go of what it held', () => {
      const role = chat.role();
      const source = new Subject<object>();
      const seen: (ServerSentEvent | '|')[] = [];
      source.pipe(toServerSentEvents()).subscribe({
        next(frame) {
          seen.push(frame);
          if (seen.length > 1) return;
          source.next(events.b);
          source.complete();
        },
        complete: () => seen.push('|'),
      });
      source.next(role);
      source.next(events.a);
      expect(seen).toEqual([plain(role), frames.A, frames.B, D, '|']);
    });

    it('tells of a failure that comes while it lets go of what it held after all of that', () => {
      const role = chat.role();
      const source = new Subject<object>();
      const seen: ServerSentEvent[] = [];
      source.pipe(toServerSentEvents()).subscribe((frame) => {
        seen.push(frame);
        if (seen.length === 1) source.error(cut);
      });
      source.next(role);
      source.next(events.a);
      const failed = plain({
        error: { message: 'The answer broke off before it was complete', type: 'server_error', code: 'truncated' },
      });
      expect(seen).toEqual([plain(role), frames.A, failed, D]);
    });

    it('makes each frame anew, as frameworks write into them', () => {
      const seen: ServerSentEvent[] = [];
      of(events.a, events.a)
        .pipe(toServerSentEvents())
        .subscribe((frame) => seen.push(frame));
      expect(seen[0]).not.toBe(seen[1]);
      expect(Object.isFrozen(seen[2])).toBe(false);
    });

    it(
      'puts one [DONE] after several turns',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --a|      ');
        const e2 = cold('          --b|   ');
        const e1subs = '        ^--!      ';
        const e2subs = '        ---^--!   ';
        const expected = '      --A--B(D|)';

        expectObservable(concat(e1, e2).pipe(toServerSentEvents())).toBe(expected, frames);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
        expectSubscriptions(e2.subscriptions).toBe(e2subs);
      }),
    );

    it(
      'leaves an answer that retries gave up on without a frame, so that it can have a status',
      marbles({ r: chat.role() }, ({ cold, expectObservable, expectSubscriptions }) => {
        const busy = new ConnectionError('refused', { retryable: true });
        const e1 = cold('       -r-#        ', undefined, busy);
        const e1subs1 = '       ^--!        ';
        const e1subs2 = '       --------^--!';
        const expected = '      -----------#';

        const result = e1.pipe(retryBeforeFirstToken({ count: 1, delay: 5, random: () => 0 }), toServerSentEvents());
        expectObservable(result).toBe(expected, undefined, busy);
        expectSubscriptions(e1.subscriptions).toBe([e1subs1, e1subs2]);
      }),
    );

    it(
      'follows the endpoint of the event that came last',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const m = messages.text('Hi');
        const e1 = cold('       --a--m#   ', { ...events, m }, cut);
        const e1subs = '        ^-----!   ';
        const expected = '      --A--M(F|)';

        expectObservable(e1.pipe(toServerSentEvents<object>())).toBe(expected, {
          ...frames,
          M: named(m),
          F: named({
            type: 'error',
            error: { type: 'api_error', message: 'The answer broke off before it was complete' },
          }),
        });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it('lets go of what it holds when a server goes on without a token', () => {
      const pings = Array.from({ length: 1500 }, () => messages.ping());
      const frames: ServerSentEvent[] = [];
      concat(pings, NEVER)
        .pipe(toServerSentEvents())
        .subscribe((frame) => frames.push(frame));
      expect(frames).toHaveLength(1500);
    });
  });
});
