import { EMPTY, NEVER, Observable, of, throwError } from 'rxjs';
import { operate, subscribeTo, type Handlers } from './operate.js';

const FAULT = new Error('fault');
const fault = (): never => {
  throw FAULT;
};

/** What comes of a source behind an operator, in order. */
function record(source: Observable<number>, handlersOf: (out: (value: number) => void) => Partial<Handlers<number>>) {
  const seen: unknown[] = [];
  const subscription = new Observable<number>((subscriber) => {
    subscriber.add(() => seen.push('source torn down'));
    return source.subscribe(subscriber);
  })
    .pipe(
      operate<number, number>((destination) => ({
        next: (value) => destination.next(value),
        finalize: () => seen.push('finalized'),
        ...handlersOf((value) => destination.next(value)),
      })),
    )
    .subscribe({
      next: (value) => seen.push(value),
      error: (error: unknown) => seen.push(error),
      complete: () => seen.push('complete'),
    });
  return { seen, subscription };
}

test('what a handler leaves out is passed on', () => {
  expect(record(of(1, 2), () => ({})).seen).toEqual([1, 2, 'complete', 'finalized', 'source torn down']);
  expect(
    record(
      throwError(() => FAULT),
      () => ({}),
    ).seen,
  ).toEqual([FAULT, 'finalized', 'source torn down']);
});

test('a handler that throws is an error of the operator, whichever it is', () => {
  expect(record(of(1, 2), () => ({ next: fault })).seen.slice(0, 1)).toEqual([FAULT]);
  expect(record(of(1), () => ({ complete: fault })).seen.slice(0, 2)).toEqual([1, FAULT]);
  const other = throwError(() => new Error('other'));
  expect(record(other, () => ({ error: fault })).seen.slice(0, 1)).toEqual([FAULT]);
});

test('a source that has ended is torn down though the operator goes on', () => {
  for (const source of [EMPTY, throwError(() => FAULT)]) {
    const { seen } = record(source, (out) => ({ error: () => out(7), complete: () => out(7) }));
    expect(seen).toEqual([7, 'finalized', 'source torn down']);
  }
});

test('leaving tears the source down, and the handlers hear of it once', () => {
  const { seen, subscription } = record(NEVER, () => ({}));
  subscription.unsubscribe();
  subscription.unsubscribe();
  expect([...seen].sort()).toEqual(['finalized', 'source torn down']);
});

test('a source that is left alone leaves the destination open', () => {
  const seen: number[] = [];
  new Observable<number>((destination) => {
    subscribeTo(NEVER, destination, { next: () => undefined }).unsubscribe();
    destination.next(1);
  }).subscribe((value) => seen.push(value));
  expect(seen).toEqual([1]);
});
