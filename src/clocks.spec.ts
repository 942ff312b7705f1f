import { asyncScheduler, VirtualTimeScheduler } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { Clocks } from './clocks.js';

describe('Clocks', () => {
  /** Runs `script` (frame → action) in virtual time and gives what expired at which frame. */
  function run(script: Record<number, (clocks: Clocks) => void>): string[] {
    const scheduler = new VirtualTimeScheduler();
    const expired: string[] = [];
    const clocks = new Clocks(scheduler, (name) => expired.push(`${name}@${String(scheduler.now())}`));
    for (const [frame, action] of Object.entries(script)) {
      scheduler.schedule(() => {
        action(clocks);
      }, Number(frame));
    }
    scheduler.flush();
    return expired;
  }

  it('expires a clock its length after it was armed', () => {
    expect(run({ 3: (clocks) => clocks.arm('idle', 10) })).toEqual(['idle@13']);
  });

  it('expires a touched clock its length after the last touch', () => {
    expect(run({ 0: (c) => c.arm('idle', 10), 4: (c) => c.touch('idle') })).toEqual(['idle@14']);
    expect(run({ 0: (c) => c.arm('idle', 10), 4: (c) => c.touch('idle'), 13: (c) => c.touch('idle') })).toEqual([
      'idle@23',
    ]);
  });

  it('expires each clock at its own time, whatever the order of arming', () => {
    const script = {
      0: (c: Clocks) => c.arm('total', 30),
      1: (c: Clocks) => c.arm('idle', 5),
      2: (c: Clocks) => c.arm('stalled', 10),
    };
    expect(run(script)).toEqual(['idle@6', 'stalled@12', 'total@30']);
  });

  it('expires the clock that was armed first of those that end together', () => {
    expect(run({ 0: (c) => (c.arm('total', 10), c.arm('firstToken', 10)) })).toEqual(['total@10', 'firstToken@10']);
  });

  it('starts a clock anew with another length, shorter or longer', () => {
    expect(run({ 0: (c) => c.arm('grace', 50), 5: (c) => c.arm('grace', 10) })).toEqual(['grace@15']);
    expect(run({ 0: (c) => c.arm('grace', 10), 5: (c) => c.arm('grace', 50) })).toEqual(['grace@55']);
  });

  it.each([undefined, 0, Infinity, NaN, -1])('is off at %p', (ms) => {
    expect(run({ 0: (c) => c.arm('idle', ms) })).toEqual([]);
    expect(run({ 0: (c) => c.arm('idle', 10), 1: (c) => c.arm('idle', ms) })).toEqual([]);
  });

  it('does not arm by a touch, and not again after it expired', () => {
    expect(run({ 0: (c) => c.touch('idle') })).toEqual([]);
    expect(run({ 0: (c) => c.arm('idle', 5), 20: (c) => c.touch('idle') })).toEqual(['idle@5']);
  });

  it('leaves the others running when one is disarmed', () => {
    expect(run({ 0: (c) => (c.arm('headers', 5), c.arm('total', 9)), 1: (c) => c.disarm('headers') })).toEqual([
      'total@9',
    ]);
  });

  it('says which clocks are armed', () => {
    const clocks = new Clocks(new VirtualTimeScheduler(), () => undefined);
    clocks.arm('idle', 5);
    expect([clocks.isArmed('idle'), clocks.isArmed('total')]).toEqual([true, false]);
    clocks.stop();
    expect(clocks.isArmed('idle')).toBe(false);
  });

  it('keeps no timer once it is stopped, or once its last clock is disarmed', () => {
    const scheduler = new VirtualTimeScheduler();
    const clocks = new Clocks(scheduler, () => undefined);
    clocks.arm('idle', 1000);
    clocks.arm('stalled', 100);
    clocks.disarm('idle');
    clocks.disarm('stalled');
    clocks.arm('total', 2000);
    clocks.stop();
    scheduler.flush();
    expect(scheduler.frame).toBe(0);
  });

  it('may be stopped or armed from within the notification', () => {
    const scheduler = new VirtualTimeScheduler();
    const expired: string[] = [];
    const clocks = new Clocks(scheduler, (name) => {
      expired.push(`${name}@${String(scheduler.now())}`);
      if (name === 'headers') clocks.arm('idle', 7);
      if (name === 'idle') clocks.stop();
    });
    clocks.arm('headers', 5);
    clocks.arm('total', 20);
    scheduler.flush();
    expect(expired).toEqual(['headers@5', 'idle@12']);
  });

  it('arms one timer for any number of touches', () => {
    const scheduler = new VirtualTimeScheduler();
    const schedule = jest.spyOn(scheduler, 'schedule');
    const clocks = new Clocks(scheduler, () => undefined);
    clocks.arm('idle', 10);
    for (let i = 0; i < 1000; i++) clocks.touch('idle');
    expect(schedule).toHaveBeenCalledTimes(1);
  });

  it('waits out more milliseconds than a timer takes', () => {
    jest.useFakeTimers();
    try {
      const expired = jest.fn();
      const clocks = new Clocks(asyncScheduler, expired);
      const month = 31 * 24 * 3600 * 1000;
      clocks.arm('total', month);
      jest.advanceTimersByTime(month - 1);
      expect(expired).not.toHaveBeenCalled();
      jest.advanceTimersByTime(1);
      expect(expired).toHaveBeenCalledTimes(1);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('goes on when the wall clock is set back', () => {
    jest.useFakeTimers({ now: 1_000_000 });
    try {
      const expired = jest.fn();
      new Clocks(asyncScheduler, expired).arm('idle', 100);
      jest.advanceTimersByTime(50);
      jest.setSystemTime(0);
      jest.advanceTimersByTime(150);
      expect(expired).toHaveBeenCalledTimes(1);
    } finally {
      jest.useRealTimers();
    }
  });

  it('runs on the async scheduler in virtual time under TestScheduler.run', () => {
    const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
    const expired: number[] = [];
    scheduler.run(() => {
      const clocks = new Clocks(undefined, () => expired.push(scheduler.now()));
      clocks.arm('idle', 600_000);
    });
    expect(expired).toEqual([600_000]);
  });
});
