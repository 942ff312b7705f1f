import { images, marbles } from 'rx-llm/testing';
import { map } from 'rxjs';
import { pictures } from './pictures';

const values = { p: images.partial('p', 0), q: images.partial('q', 1), c: images.completed('c') };

describe('pictures', () => {
  it(
    'shows each draft, and the finished picture',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('   --p--q--c-|');
      const e1subs = '    ^---------!';
      const expected = '  --p--q--c-|';

      expectObservable(
        e1.pipe(
          pictures(),
          map(({ b64 }) => b64),
        ),
      ).toBe(expected, { p: 'p', q: 'q', c: 'c' });
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'fails with its source, and keeps what came before',
    marbles(values, ({ cold, expectObservable }) => {
      const e1 = cold('   --p--#');
      const expected = '  --p--#';

      expectObservable(
        e1.pipe(
          pictures(),
          map(({ b64 }) => b64),
        ),
      ).toBe(expected, { p: 'p' });
    }),
  );
});
