import { setTimeout as sleep } from 'node:timers/promises';
import { EMPTY, NEVER, Observable, Subject, firstValueFrom, of, take, throwError, toArray } from 'rxjs';
import { HttpResponseError } from './errors.js';
import { untilStarted } from './until-started.js';

/** What a subscriber is told, as one line. */
function told<T>(source: Observable<T>): string[] {
  const log: string[] = [];
  source.subscribe({
    next: (value) => log.push(String(value)),
    error: (error) => log.push(`# ${String(error)}`),
    complete: () => log.push('|'),
  });
  return log;
}

/** How many listeners for `abort` a signal has. */
function counted(): { controller: AbortController; listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  let count = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  const known = new Set<unknown>();
  signal.addEventListener = (type: string, listener: EventListener) => {
    if (!known.has(listener)) count++;
    known.add(listener);
    add(type, listener);
  };
  signal.removeEventListener = (type: string, listener: EventListener) => {
    if (known.delete(listener)) count--;
    remove(type, listener);
  };
  return { controller, listeners: () => count };
}

describe('untilStarted', () => {
  it('subscribes at once and resolves at the first value, which the Observable replays', async () => {
    const source = new Subject<string>();
    let resolved = false;
    const started = untilStarted(source);
    void started.then(() => (resolved = true));
    expect(source.observed).toBe(true);
    await sleep(5);
    expect(resolved).toBe(false);

    source.next('a');
    const result = await started;
    source.next('b');
    const log = told(result);
    expect(log).toEqual(['a', 'b']);
    source.next('c');
    source.complete();
    expect(log).toEqual(['a', 'b', 'c', '|']);
  });

  it('resolves at a completion without values', async () => {
    expect(told(await untilStarted(EMPTY))).toEqual(['|']);
  });

  it('rejects with the error itself if that comes first', async () => {
    const error = new HttpResponseError('Too many requests', { status: 429 });
    await expect(untilStarted(throwError(() => error))).rejects.toBe(error);
  });

  it('passes a later error on, before and after it is subscribed to', async () => {
    const early = new Subject<string>();
    const first = untilStarted(early);
    early.next('a');
    early.error('broken');
    expect(told(await first)).toEqual(['a', '# broken']);

    const late = new Subject<string>();
    const second = untilStarted(late);
    late.next('a');
    const log = told(await second);
    late.error('broken');
    expect(log).toEqual(['a', '# broken']);
  });

  it('takes a synchronous source', async () => {
    expect(await firstValueFrom((await untilStarted(of(1, 2, 3))).pipe(toArray()))).toEqual([1, 2, 3]);
  });

  it('unsubscribes from the source when its Observable is unsubscribed from', async () => {
    const source = new Subject<string>();
    const started = untilStarted(source);
    source.next('a');
    const subscription = (await started).subscribe();
    expect(source.observed).toBe(true);
    subscription.unsubscribe();
    expect(source.observed).toBe(false);
  });

  it('replays no more than is asked for', async () => {
    const source = new Subject<string>();
    const started = untilStarted(source);
    source.next('a');
    source.next('b');
    expect(told((await started).pipe(take(1)))).toEqual(['a', '|']);
    expect(source.observed).toBe(false);
  });

  it('keeps the order when replaying brings more', async () => {
    const source = new Subject<string>();
    const started = untilStarted(source);
    source.next('a');
    source.next('b');
    const log: string[] = [];
    (await started).subscribe((value) => {
      log.push(value);
      if (value === 'a') source.next('c');
    });
    source.next('d');
    expect(log).toEqual(['a', 'b', 'c', 'd']);
  });

  it('can be subscribed to once', async () => {
    const result = await untilStarted(of('a'));
    expect(told(result)).toEqual(['a', '|']);
    expect(told(result)).toEqual([expect.stringContaining('# TypeError: untilStarted')]);
  });

  describe('with a signal', () => {
    it('subscribes to nothing if it is aborted already', async () => {
      let subscribed = false;
      const source = new Observable<string>(() => {
        subscribed = true;
      });
      await expect(untilStarted(source, AbortSignal.abort('left'))).rejects.toBe('left');
      expect(subscribed).toBe(false);
    });

    it('unsubscribes and rejects with its reason when it is aborted while waiting', async () => {
      const source = new Subject<string>();
      const { controller, listeners } = counted();
      const started = untilStarted(source, controller.signal);
      expect(listeners()).toBe(1);
      controller.abort('left');
      expect(source.observed).toBe(false);
      await expect(started).rejects.toBe('left');
      expect(listeners()).toBe(0);
    });

    it('leaks nothing when it is aborted and nobody ever subscribes', async () => {
      const source = new Subject<string>();
      const { controller, listeners } = counted();
      const started = untilStarted(source, controller.signal);
      source.next('a');
      const result = await started;
      controller.abort('left');
      expect(source.observed).toBe(false);
      expect(listeners()).toBe(0);
      expect(told(result)).toEqual(['# left']);
    });

    it('unsubscribes from a source that aborts it while it is being subscribed to', async () => {
      const { controller, listeners } = counted();
      let left = false;
      const source = new Observable<string>((subscriber) => {
        subscriber.add(() => (left = true));
        controller.abort('left');
      });
      await expect(untilStarted(source, controller.signal)).rejects.toBe('left');
      expect(left).toBe(true);
      expect(listeners()).toBe(0);
    });

    it('leaves the stream alone once somebody has subscribed, and takes its listener away', async () => {
      const source = new Subject<string>();
      const { controller, listeners } = counted();
      const started = untilStarted(source, controller.signal);
      source.next('a');
      const log = told(await started);
      expect(listeners()).toBe(0);
      controller.abort('left');
      source.next('b');
      expect(log).toEqual(['a', 'b']);
    });

    it('takes its listener away when the source ends before somebody subscribes', async () => {
      const { controller, listeners } = counted();
      await untilStarted(EMPTY, controller.signal);
      await expect(
        untilStarted(
          throwError(() => 'x'),
          controller.signal,
        ),
      ).rejects.toBe('x');
      expect(listeners()).toBe(0);
      const waiting = untilStarted(NEVER, controller.signal);
      expect(listeners()).toBe(1);
      controller.abort('left');
      await expect(waiting).rejects.toBe('left');
    });
  });
});
