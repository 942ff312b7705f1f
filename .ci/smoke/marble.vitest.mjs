import { textDeltas } from 'rx-llm';
import { chat, marbles } from 'rx-llm/testing';
import { expect, test } from 'vitest';

test(
  'text comes as it is sent',
  marbles(({ cold, expectObservable }) => {
    const e1 = cold('  -a-b-f|', { a: chat.text('Hel'), b: chat.text('lo'), f: chat.finish('stop') });
    const expected = ' -a-b--|';

    expectObservable(e1.pipe(textDeltas())).toBe(expected, { a: 'Hel', b: 'lo' });
  }),
);

test('a wrong diagram is a failure', () => {
  const wrong = marbles(({ cold, expectObservable }) => {
    expectObservable(cold('-a-|', { a: chat.text('Hi') }).pipe(textDeltas())).toBe('--a|', { a: 'Hi' });
  });
  expect(wrong).toThrow();
});
