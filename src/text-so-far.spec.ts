import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TextSoFar } from './text-so-far.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapOf(build: () => unknown): number {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const held = [build()];
  collectGarbage();
  const used = process.memoryUsage().heapUsed - before;
  return held.length ? used : 0;
}

describe('TextSoFar', () => {
  const PIECES = 200_000;
  const piece = (index: number): string => ` piece${index % 1000}`;

  it('holds the pieces in their order', () => {
    const text = new TextSoFar();
    let expected = '';
    for (let index = 0; index < 1000; index++) expect(text.add(piece(index))).toBe((expected += piece(index)));
    expect(text.value).toBe(expected);
  });

  it('weighs a fraction of what a rope of the same pieces does', () => {
    const rope = heapOf(() => {
      let text = '';
      for (let index = 0; index < PIECES; index++) text += piece(index);
      return text;
    });
    const flat = heapOf(() => {
      const text = new TextSoFar();
      for (let index = 0; index < PIECES; index++) text.add(piece(index));
      return text;
    });
    expect(flat).toBeLessThan(rope / 2);
  });
});
