import { TestBed } from '../spec/support/angular.js';
import { createEnvironmentInjector, EnvironmentInjector, PLATFORM_ID, signal } from '@angular/core';
import { finalize, map, Observable, of, scan, Subject, throwError } from 'rxjs';
import type { ChatCompletionChunk } from '../endpoints/chat-completions/wire.js';
import type { ImageStreamEvent } from '../endpoints/images/wire.js';
import { accumulateMessage } from '../operators/accumulate-message.js';
import { partialImages } from '../operators/partial-images.js';
import { textDeltas } from '../operators/text-deltas.js';
import { chat } from '../testing/chat.js';
import { images } from '../testing/images.js';
import { llmResource, type LlmEvent, type LlmResourceOptions } from './llm-resource.js';

const FRAME = 20;

/** Requests whose answers the test gives. */
function gateway<E extends LlmEvent = ChatCompletionChunk>() {
  const requests: { readonly asked: string; readonly events: Subject<E>; open: boolean }[] = [];
  const stream = (asked: string): Observable<E> =>
    new Observable((subscriber) => {
      const request = { asked, events: new Subject<E>(), open: true };
      requests.push(request);
      request.events.pipe(finalize(() => (request.open = false))).subscribe(subscriber);
    });
  return { requests, stream, open: () => requests.filter(({ open }) => open).map(({ asked }) => asked) };
}

function create<P, E extends LlmEvent, V = never>(options: LlmResourceOptions<P, E, V>) {
  return TestBed.runInInjectionContext(() => llmResource(options));
}

const frame = () => {
  jest.advanceTimersByTime(FRAME);
};

describe('llmResource', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('is idle, and sends nothing, until it is started', () => {
    const { stream, requests } = gateway();
    const answer = create({ stream });

    expect([answer.status(), answer.active(), answer.text(), answer.blocks()]).toEqual(['idle', false, '', []]);
    expect(requests).toEqual([]);
  });

  it('tells what comes, from connecting to done', () => {
    const { stream, requests } = gateway();
    const answer = create({ stream });

    answer.start('Hi');
    expect([answer.status(), answer.active()]).toEqual(['connecting', true]);
    requests[0]!.events.next(chat.reasoning('hm'));
    requests[0]!.events.next(chat.text('Hello'));
    frame();
    expect([answer.status(), answer.reasoning(), answer.text()]).toEqual(['streaming', 'hm', 'Hello']);
    requests[0]!.events.next(chat.toolCall({ name: 'look', arguments: { at: 'sky' } }));
    requests[0]!.events.next(chat.finish('tool_calls'));
    requests[0]!.events.next(chat.usage({ prompt_tokens: 3, completion_tokens: 4 }));
    requests[0]!.events.complete();

    expect([answer.status(), answer.active()]).toEqual(['done', false]);
    expect(answer.toolCalls()).toMatchObject([{ name: 'look', input: { at: 'sky' }, valid: true }]);
    expect(answer.usage()).toMatchObject({ inputTokens: 3, outputTokens: 4 });
    expect(answer.finishReason()).toMatchObject({ reason: 'tool_calls' });
    expect(answer.blocks()).toEqual([{ key: 0, text: 'Hello' }]);
  });

  it('changes once per frame, however many tokens come', () => {
    const { stream, requests } = gateway();
    const answer = create({ stream });
    answer.start('Hi');

    const seen = new Set<string>();
    for (let i = 0; i < 1000; i++) {
      requests[0]!.events.next(chat.text('x'));
      seen.add(answer.text());
    }
    expect([...seen]).toEqual(['']);
    frame();
    expect(answer.text()).toBe('x'.repeat(1000));
  });

  it('keeps the text, and gives the error as a value, when the stream fails', () => {
    const { stream, requests } = gateway();
    const answer = create({ stream });
    const error = new Error('broken');

    answer.start('Hi');
    requests[0]!.events.next(chat.text('Hel'));
    requests[0]!.events.error(error);

    expect([answer.status(), answer.text(), answer.error()]).toEqual(['failed', 'Hel', error]);
  });

  it('takes what `stream` throws for a failure', () => {
    const error = new Error('no such model');
    const answer = create({
      stream: (): Observable<ChatCompletionChunk> => {
        throw error;
      },
    });

    answer.start();

    expect([answer.status(), answer.error()]).toEqual(['failed', error]);
  });

  it('stops with everything that has come, aborts the request, and calls no tool call complete', () => {
    const { stream, requests, open } = gateway();
    const answer = create({ stream });

    answer.start('Hi');
    requests[0]!.events.next(chat.text('Hel'));
    requests[0]!.events.next(chat.toolCall({ name: 'look', arguments: { at: 'sky' } }));
    answer.stop();

    expect([answer.status(), answer.active(), answer.text()]).toEqual(['stopped', false, 'Hel']);
    expect(answer.error()).toBeUndefined();
    expect(answer.toolCalls()).toMatchObject([{ name: 'look', complete: false, valid: false }]);
    expect(open()).toEqual([]);
    answer.stop();
    frame();
    expect(answer.status()).toBe('stopped');
  });

  it('leaves a finished answer as it is when it is stopped', () => {
    const answer = create({ stream: () => of(...chat.turn('Hello')) });

    answer.start();
    answer.stop();

    expect([answer.status(), answer.text()]).toEqual(['done', 'Hello']);
  });

  it('aborts and asks again on restart, and begins with an empty text', () => {
    const { stream, requests, open } = gateway();
    const answer = create({ stream });
    expect(answer.restart()).toBe(false);

    answer.start('Hi');
    requests[0]!.events.next(chat.text('Hel'));
    frame();
    expect(answer.restart()).toBe(true);

    expect(requests.map(({ asked }) => asked)).toEqual(['Hi', 'Hi']);
    expect(requests.map(({ open }) => open)).toEqual([false, true]);
    expect([answer.status(), answer.text(), answer.blocks()]).toEqual(['connecting', '', []]);
    requests[1]!.events.next(chat.text('Hallo'));
    frame();
    expect(answer.blocks()).toEqual([{ key: 0, text: 'Hallo' }]);
    answer.reset();
    expect([answer.status(), open(), answer.restart()]).toEqual(['idle', [], false]);
  });

  describe('with params', () => {
    it('starts, and starts again when they change', () => {
      const { stream, requests, open } = gateway();
      const question = signal<string | undefined>('a');
      const answer = create({ params: question, stream });

      expect(requests).toEqual([]);
      TestBed.tick();
      expect(open()).toEqual(['a']);
      requests[0]!.events.next(chat.text('A'));
      question.set('b');
      TestBed.tick();

      expect(requests.map(({ open }) => open)).toEqual([false, true]);
      expect([answer.status(), answer.text()]).toEqual(['connecting', '']);
    });

    it('aborts, and is idle, when they become undefined', () => {
      const { stream, requests, open } = gateway();
      const question = signal<string | undefined>('a');
      const answer = create({ params: question, stream });
      TestBed.tick();
      requests[0]!.events.next(chat.text('A'));
      frame();
      question.set(undefined);
      TestBed.tick();

      expect([open(), answer.status(), answer.text()]).toEqual([[], 'idle', '']);
    });

    it('does not follow what `stream` reads', () => {
      const { stream, requests } = gateway();
      const model = signal('m1');
      create({ params: () => 'a', stream: (asked) => stream(asked + model()) });
      TestBed.tick();
      model.set('m2');
      TestBed.tick();

      expect(requests.map(({ asked }) => asked)).toEqual(['am1']);
    });

    it('does not start again because what they are made from has changed', () => {
      const { stream, requests } = gateway();
      const draft = signal('a');
      create({ params: () => draft().toLowerCase(), stream });
      TestBed.tick();
      draft.set('A');
      TestBed.tick();

      expect(requests).toHaveLength(1);
    });
  });

  it('aborts the request when its injector is destroyed, and starts no other', () => {
    const { stream, open } = gateway();
    const injector = createEnvironmentInjector([], TestBed.inject(EnvironmentInjector));
    const answer = llmResource({ stream, injector });
    answer.start('Hi');
    expect(open()).toEqual(['Hi']);

    injector.destroy();
    expect(open()).toEqual([]);
    answer.start('again');
    expect(open()).toEqual([]);
  });

  it('is typed by its params and its operator', () => {
    const byHand = create({ stream: gateway().stream, operator: textDeltas() });
    const typed = (): void => {
      // @ts-expect-error -- the question is missing
      byHand.start();
      // @ts-expect-error -- no such question
      byHand.start(1);
      const value: string | undefined = byHand.value();
      const none: undefined = create({ stream: gateway().stream }).value();
      void [value, none];
    };

    expect(typed).toBeInstanceOf(Function);
  });

  it('throws outside of an injection context', () => {
    expect(() => llmResource({ stream: gateway().stream })).toThrow(/llmResource\(\) can only be used/);
  });

  describe('with an operator', () => {
    it('gives what it emitted last as the value, complete by the time the status is done', () => {
      const answer = create({ stream: () => of(...chat.turn('Hello')), operator: accumulateMessage() });

      answer.start();

      expect(answer.status()).toBe('done');
      expect(answer.value()).toMatchObject({ choices: [{ message: { content: 'Hello' } }] });
    });

    it('shows images as they sharpen, once per frame', () => {
      const { stream, requests } = gateway<ImageStreamEvent>();
      const answer = create({ stream, operator: partialImages() });
      answer.start('A robot');

      requests[0]!.events.next(images.partial('QQ==', 0));
      requests[0]!.events.next(images.partial('Qg==', 1));
      expect(answer.value()).toBeUndefined();
      frame();

      expect([answer.status(), answer.value()?.b64]).toEqual(['streaming', 'Qg==']);
    });

    it('fails with the operator’s own error, and aborts the request', () => {
      const { stream, requests, open } = gateway();
      const error = new Error('not for children');
      const answer = create({
        stream,
        operator: (events) =>
          events.pipe(
            textDeltas(),
            map((text) => {
              if (text === 'bad') throw error;
              return text;
            }),
          ),
      });

      answer.start('Hi');
      requests[0]!.events.next(chat.text('good'));
      frame();
      requests[0]!.events.next(chat.text('bad'));

      expect([answer.status(), answer.error(), open()]).toEqual(['failed', error, []]);
      expect([answer.text(), answer.value()]).toEqual(['good', 'good']);
    });

    it('fails when the operator fails at the end of a good stream', () => {
      const answer = create({
        stream: () => of(...chat.turn('Hello')),
        operator: (events) =>
          events.pipe(
            accumulateMessage(),
            scan((n) => n + 1, 0),
            failAtEnd(),
          ),
      });

      answer.start();

      expect([answer.status(), answer.error()]).toEqual(['failed', new Error('at the end')]);
    });

    it('gives the source’s own error when both see it', () => {
      const error = new Error('broken');
      const answer = create({ stream: () => throwError(() => error), operator: textDeltas() });

      answer.start();

      expect([answer.status(), answer.error()]).toEqual(['failed', error]);
    });
  });

  describe('on a server that renders pages', () => {
    const asServer = () =>
      TestBed.configureTestingModule({ providers: [{ provide: PLATFORM_ID, useValue: 'server' }] });

    it('starts nothing, neither by params nor by start()', () => {
      asServer();
      const { stream, requests } = gateway();
      const byParams = create({ params: () => 'a', stream });
      const byHand = create({ stream });

      TestBed.tick();
      byHand.start('b');

      expect([byParams.status(), byHand.status(), requests]).toEqual(['idle', 'idle', []]);
    });

    it('starts when it is asked to', () => {
      asServer();
      const answer = create({ params: () => 'a', stream: () => of(...chat.turn('Hello')), server: true });

      TestBed.tick();

      expect([answer.status(), answer.text()]).toEqual(['done', 'Hello']);
    });
  });
});

function failAtEnd<T>() {
  return (source: Observable<T>) =>
    new Observable<T>((subscriber) =>
      source.subscribe({
        next: (value) => subscriber.next(value),
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.error(new Error('at the end')),
      }),
    );
}
