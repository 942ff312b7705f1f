const { textDeltas } = require('rx-llm');
const { chat, marbles } = require('rx-llm/testing');

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
