import { animationFrameScheduler, asyncScheduler, map, Observable, of, Subject, take, type SchedulerLike } from 'rxjs';
import {
  StreamEventError,
  streamState,
  TruncatedStreamError,
  type ChatCompletionChunk,
  type StreamState,
  type ToolCall,
} from 'rx-llm';
import { chat, marbles, messages, responses } from 'rx-llm/testing';

const nothing: StreamState = {
  status: 'connecting',
  text: '',
  reasoning: '',
  toolCalls: [],
  usage: undefined,
  finishReason: undefined,
  error: undefined,
};
const connecting = nothing;
const streaming = (text: string, more: Partial<StreamState> = {}): StreamState => ({
  ...nothing,
  status: 'streaming',
  text,
  ...more,
});
const done = (text: string, more: Partial<StreamState> = {}): StreamState => ({
  ...streaming(text, more),
  status: 'done',
});
const failed = (text: string, error: unknown, more: Partial<StreamState> = {}): StreamState => ({
  ...streaming(text, more),
  status: 'failed',
  error,
});

describe('streamState', () => {
  // a and b: text 'Hel' and 'lo'; r: the role chunk, which holds nothing
  const events = { r: chat.role(), a: chat.text('Hel'), b: chat.text('lo') };
  const states = { c: connecting, a: streaming('Hel'), b: streaming('Hello'), d: done('Hello') };
  const cut = new TruncatedStreamError('cut');

  it(
    'begins with connecting, then emits what is known after each event, then done',
    marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --a--b--|   ');
      const e1subs = '        ^-------!   ';
      const expected = '      c-a--b--(d|)';

      expectObservable(e1.pipe(streamState())).toBe(expected, states);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'is streaming from the first event on, though it holds no text',
    marbles(events, ({ cold, expectObservable }) => {
      const e1 = cold('       -r--a--|   ');
      const expected = '      cs--a--(d|)';

      expectObservable(e1.pipe(streamState())).toBe(expected, { ...states, s: streaming(''), d: done('Hel') });
    }),
  );

  it(
    'emits nothing for events that change nothing',
    marbles(events, ({ cold, expectObservable }) => {
      const e1 = cold('       -a-r-r-b-|   ');
      const expected = '      ca-----b-(d|)';

      expectObservable(e1.pipe(streamState())).toBe(expected, states);
    }),
  );

  it(
    'keeps the text of an answer that fails, and completes instead of raising the error',
    marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       --a--#   ', undefined, cut);
      const e1subs = '        ^----!   ';
      const expected = '      c-a--(f|)';

      expectObservable(e1.pipe(streamState())).toBe(expected, { ...states, f: failed('Hel', cut) });
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'fails without ever streaming when there is no answer',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold<ChatCompletionChunk>('--#   ', undefined, 'any reason');
      const e1subs = '                      ^-!   ';
      const expected = '                    c-(f|)';

      expectObservable(e1.pipe(streamState())).toBe(expected, { ...states, f: failed('', 'any reason') });
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'is done at once when the source is empty',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold<ChatCompletionChunk>('|    ');
      const e1subs = '                      (^!) ';
      const expected = '                    (cd|)';

      expectObservable(e1.pipe(streamState())).toBe(expected, { ...states, d: done('') });
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'stays connecting while nothing comes, and streaming while nothing more comes',
    marbles(events, ({ cold, expectObservable }) => {
      const e1 = cold('       ---');
      const expected1 = '     c--';
      const e2 = cold('       -a-');
      const expected2 = '     ca-';

      expectObservable(e1.pipe(streamState())).toBe(expected1, states);
      expectObservable(e2.pipe(streamState())).toBe(expected2, states);
    }),
  );

  it(
    'shows reasoning, tool calls, finish reason and usage beside the text',
    marbles(({ cold, expectObservable }) => {
      const x = {
        t: chat.reasoning('Hm'),
        a: chat.text('Hi'),
        k: chat.toolCall({ name: 'tide', id: 'call_9', arguments: '{"at":' }),
        l: chat.toolArguments('"Cuxhaven"}'),
        f: chat.finish('tool_calls'),
        u: chat.usage({ prompt_tokens: 9, completion_tokens: 2 }),
      };
      const e1 = cold('       -t-a-k-l-f-u-|   ', x);
      const expected = '      ct-a-k-l-f-u-(d|)';

      const call = (text: string, more: Partial<ToolCall> = {}): ToolCall => ({
        key: 'call_0',
        id: 'call_9',
        name: 'tide',
        arguments: text,
        input: undefined,
        complete: false,
        valid: false,
        choice: 0,
        ...more,
      });
      const whole = call('{"at":"Cuxhaven"}', { input: { at: 'Cuxhaven' }, complete: true, valid: true });
      const finishReason = { reason: 'tool_calls', raw: 'tool_calls' } as const;
      const usage = expect.objectContaining({ inputTokens: 9, outputTokens: 2, totalTokens: 11 }) as never;
      const reasoning = 'Hm';
      expectObservable(e1.pipe(streamState())).toBe(expected, {
        c: connecting,
        t: streaming('', { reasoning }),
        a: streaming('Hi', { reasoning }),
        k: streaming('Hi', { reasoning, toolCalls: [call('{"at":')] }),
        l: streaming('Hi', { reasoning, toolCalls: [call('{"at":"Cuxhaven"}')] }),
        f: streaming('Hi', { reasoning, toolCalls: [call('{"at":"Cuxhaven"}')], finishReason }),
        u: streaming('Hi', { reasoning, toolCalls: [call('{"at":"Cuxhaven"}')], finishReason, usage }),
        d: done('Hi', { reasoning, toolCalls: [whole], finishReason, usage }),
      });
    }),
  );

  it(
    'emits one state for an event that changes several things',
    marbles(({ cold, expectObservable }) => {
      const x = { ...chat.text('Hi'), usage: { prompt_tokens: 1, completion_tokens: 1 } };
      const e1 = cold('       --x--|   ', { x });
      const expected = '      c-x--(d|)';

      const usage = expect.objectContaining({ inputTokens: 1 }) as never;
      expectObservable(e1.pipe(streamState())).toBe(expected, {
        c: connecting,
        x: streaming('Hi', { usage }),
        d: done('Hi', { usage }),
      });
    }),
  );

  it(
    'knows the usage and the finish reason of a failure from its error, where no event told them',
    marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
      const usage = { inputTokens: 9, raw: {} };
      const event = chat.finish('error');
      const error = new StreamEventError('failed', { usage, event });
      const e1 = cold('       --a--#   ', undefined, error);
      const e1subs = '        ^----!   ';
      const expected = '      c-a--(f|)';

      const finishReason = { reason: 'error', raw: 'error' } as const;
      expectObservable(e1.pipe(streamState())).toBe(expected, {
        ...states,
        f: failed('Hel', error, { usage, finishReason }),
      });
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'reads Responses, to the text that only the final event holds',
    marbles(({ cold, expectObservable }) => {
      const turn = responses.turn(['Hel', 'lo']);
      const a = responses.text('Hel');
      const z = turn.at(-1);
      const e1 = cold<typeof a>('--a--z--|   ', { a, z: z as typeof a });
      const expected = '         c-a--z--(d|)';

      const finishReason = { reason: 'stop', raw: 'completed' } as const;
      expectObservable(e1.pipe(streamState())).toBe(expected, {
        ...states,
        z: streaming('Hello', { finishReason }),
        d: done('Hello', { finishReason }),
      });
    }),
  );

  it(
    'reads Messages',
    marbles(({ cold, expectObservable }) => {
      const x = {
        s: messages.start(),
        p: messages.ping(),
        r: messages.reasoning('Hm'),
        a: messages.text('Hel'),
        z: messages.stop(),
      };
      const e1 = cold('       -p-r-a-z-|   ', x);
      const expected = '      cp-r-a---(d|)';

      const reasoning = 'Hm';
      expectObservable(e1.pipe(streamState())).toBe(expected, {
        c: connecting,
        p: streaming(''),
        r: streaming('', { reasoning }),
        a: streaming('Hel', { reasoning }),
        d: done('Hel', { reasoning }),
      });
    }),
  );

  it(
    'follows choice 0 of several that interleave, or the one that it is told to',
    marbles(({ cold, expectObservable }) => {
      const choice = 1;
      const x = {
        a: chat.text('Hel'),
        x: chat.text('Sal', { choice }),
        b: chat.text('lo'),
        y: chat.text('ut', { choice }),
        z: chat.finish('length', { choice }),
      };
      const e1 = cold('       -a-x-b-y-z-|   ', x);
      const expected0 = '     ca---b-----(d|)';
      const expected1 = '     cs-x---y-z-(d|)';

      const finishReason = { reason: 'length', raw: 'length' } as const;
      expectObservable(e1.pipe(streamState())).toBe(expected0, states);
      expectObservable(e1.pipe(streamState({ choice }))).toBe(expected1, {
        c: connecting,
        s: streaming(''),
        x: streaming('Sal'),
        y: streaming('Salut'),
        z: streaming('Salut', { finishReason }),
        d: done('Salut', { finishReason }),
      });
    }),
  );

  describe("with coalesce: 'frame'", () => {
    const config = { coalesce: 'frame' } as const;

    it(
      'emits at most once per animation frame, and the last state at once',
      marbles(events, ({ animate, cold, expectObservable, expectSubscriptions }) => {
        animate('               ----x---x---x---x');
        const e1 = cold('       -a-b---------a-|   ');
        const e1subs = '        ^--------------!   ';
        const expected = '      c---b----------(d|)';

        expectObservable(e1.pipe(streamState(config))).toBe(expected, { ...states, d: done('HelloHel') });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'emits in each frame that has something new',
      marbles(events, ({ animate, cold, expectObservable }) => {
        animate('               ----x---x---x---x');
        const e1 = cold('       -a-r--b-r---r---|   ');
        const expected = '      c---a---b-------(d|)';

        expectObservable(e1.pipe(streamState(config))).toBe(expected, states);
      }),
    );

    it(
      'keeps the text of a failure that comes between frames',
      marbles(events, ({ animate, cold, expectObservable, expectSubscriptions }) => {
        animate('               --------x');
        const e1 = cold('       -a-#   ', undefined, cut);
        const e1subs = '        ^--!   ';
        const expected = '      c--(f|)';

        expectObservable(e1.pipe(streamState(config))).toBe(expected, { ...states, f: failed('Hel', cut) });
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'takes 16 ms for a frame where there are none',
      marbles(events, ({ cold, expectObservable }) => {
        const e1 = cold('       -a-b 27ms a 9ms |   ');
        const expected = '      c 16ms b 23ms (d|)  ';

        expectObservable(e1.pipe(streamState(config))).toBe(expected, { ...states, d: done('HelloHel') });
      }),
    );

    it(
      'takes another clock if it is given one',
      marbles(events, ({ animate, cold, expectObservable }) => {
        animate('               ----x---x---x---x');
        const e1 = cold('       -a-b 27ms |   ');
        const onFrames = '      c---b 26ms (d|)';
        const onTimers = '      c 16ms b 13ms (d|)';

        const timedBy = (scheduler: SchedulerLike) => e1.pipe(streamState({ ...config, scheduler }));
        expectObservable(timedBy(animationFrameScheduler)).toBe(onFrames, states);
        expectObservable(timedBy(asyncScheduler)).toBe(onTimers, states);
      }),
    );

    it(
      'emits nothing after it was unsubscribed from',
      marbles(events, ({ animate, cold, expectObservable, expectSubscriptions }) => {
        animate('               ----x---x');
        const e1 = cold('       -a-b------|');
        const e1subs = '        ^--!       ';
        const expected = '      c---       ';
        const unsub = '         ---!       ';

        expectObservable(e1.pipe(streamState(config)), unsub).toBe(expected, states);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it('leaves no timer behind', () => {
      jest.useFakeTimers();
      try {
        const source = new Subject<ChatCompletionChunk>();
        const subscription = source.pipe(streamState(config)).subscribe();
        source.next(events.a);
        expect(jest.getTimerCount()).toBe(1);
        subscription.unsubscribe();
        expect(jest.getTimerCount()).toBe(0);
      } finally {
        jest.useRealTimers();
      }
    });

    it('needs no animation frames in real time', async () => {
      const source = new Subject<ChatCompletionChunk>();
      const seen: string[] = [];
      source.pipe(streamState(config)).subscribe(({ status, text }) => seen.push(`${status} ${text}`));
      source.next(events.a);
      source.next(events.b);
      expect(seen).toEqual(['connecting ']);
      await new Promise((resolve) => setTimeout(resolve, 60));
      expect(seen).toEqual(['connecting ', 'streaming Hello']);
      source.complete();
      expect(seen).toEqual(['connecting ', 'streaming Hello', 'done Hello']);
    });
  });

  describe('as an operator', () => {
    it('gives the first state in subscribe, before the source is subscribed to', () => {
      const log: string[] = [];
      const source = new Observable<ChatCompletionChunk>(() => void log.push('subscribed'));
      source.pipe(streamState()).subscribe(({ status }) => log.push(status));
      expect(log).toEqual(['connecting', 'subscribed']);
    });

    it(
      'does not subscribe to the source when the first state is all that is wanted',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --a--b--|');
        const e1subs: string[] = [];
        const expected = '      (c|)     ';

        expectObservable(e1.pipe(streamState(), take(1))).toBe(expected, states);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'unsubscribes from the source when it is unsubscribed from',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --a--b--|');
        const e1subs = '        ^---!    ';
        const expected = '      c-a--    ';
        const unsub = '         ----!    ';

        expectObservable(e1.pipe(streamState()), unsub).toBe(expected, states);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it(
      'does not break the chain of unsubscription',
      marbles(events, ({ cold, expectObservable, expectSubscriptions }) => {
        const e1 = cold('       --a--b--|');
        const e1subs = '        ^---!    ';
        const expected = '      c-a--    ';
        const unsub = '         ----!    ';

        const result = e1.pipe(
          map((event) => event),
          streamState(),
          map((state) => state),
        );
        expectObservable(result, unsub).toBe(expected, states);
        expectSubscriptions(e1.subscriptions).toBe(e1subs);
      }),
    );

    it('stops a synchronous source in the middle', () => {
      let produced = 0;
      const endless = new Observable<ChatCompletionChunk>((subscriber) => {
        while (!subscriber.closed) {
          produced++;
          subscriber.next(events.a);
        }
      });
      const texts: string[] = [];
      endless.pipe(streamState(), take(3)).subscribe(({ text }) => texts.push(text));
      expect(texts).toEqual(['', 'Hel', 'HelHel']);
      expect(produced).toBe(2);
    });

    it('shows the newest state last when an event comes while one is being delivered', () => {
      const source = new Subject<ChatCompletionChunk>();
      const texts: string[] = [];
      source.pipe(streamState()).subscribe(({ text }) => {
        texts.push(text);
        if (text === 'Hel') source.next(events.b);
      });
      source.next(events.a);
      expect(texts).toEqual(['', 'Hel', 'Hello']);
    });

    it('starts afresh for each subscriber', () => {
      const source = of(events.a).pipe(streamState());
      const texts: string[] = [];
      source.subscribe(({ text }) => texts.push(text));
      source.subscribe(({ text }) => texts.push(text));
      expect(texts).toEqual(['', 'Hel', 'Hel', '', 'Hel', 'Hel']);
    });

    it('keeps the identity of what did not change', () => {
      const source = new Subject<ChatCompletionChunk>();
      const seen: StreamState[] = [];
      source.pipe(streamState()).subscribe((state) => seen.push(state));
      source.next(chat.toolCall({ name: 'tide', arguments: '{}' }));
      source.next(events.a);
      source.next(chat.usage({ prompt_tokens: 1, completion_tokens: 1 }));
      source.next(events.b);
      const [first, call, text, usage, last] = seen;
      expect(first?.toolCalls).toEqual([]);
      expect(text?.toolCalls).toBe(call?.toolCalls);
      expect(last?.toolCalls).toBe(call?.toolCalls);
      expect(last?.usage).toBe(usage?.usage);
      expect(last).not.toBe(usage);
    });

    it('takes what is no event for a sign of life', () => {
      const seen: string[] = [];
      const oddities = of(null, 'text', 7) as Observable<never>;
      oddities.pipe(streamState()).subscribe(({ status }) => seen.push(status));
      expect(seen).toEqual(['connecting', 'streaming', 'done']);
    });
  });
});
