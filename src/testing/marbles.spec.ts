import { map } from 'rxjs';
import { marbles } from './marbles.js';

describe('marbles', () => {
  it(
    'passes when all expectations are met',
    marbles({ a: 1, b: 2 }, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold(' -a 20ms b-c-|', { c: 3 });
      const e1subs = ' ^- 20ms ----!';
      const expected = '-x 20ms y-z-|';

      expectObservable(e1.pipe(map((n) => 2 * n))).toBe(expected, { x: 2, y: 4, z: 6 });
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );
});
