import fc from 'fast-check';
import { TextBlocks, type TextBlock } from './text-blocks.js';

const whole = (blocks: readonly TextBlock[]) => blocks.map(({ text }) => text).join('');

/** The blocks after each step of a text that grows by these pieces. */
function grow(pieces: readonly string[]): (readonly TextBlock[])[] {
  const cutter = new TextBlocks();
  let text = '';
  return pieces.map((piece) => cutter.next((text += piece)));
}

/** Texts with few and with many line feeds, words and characters of several units. */
const texts = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.stringMatching(/^[a-z]{1,9} $/) },
      { weight: 1, arbitrary: fc.constantFrom('\n', '\n\n', '東京', '😀', '👩‍👩‍👧', 'e\u0301', ' ') },
    ),
    { maxLength: 40 },
  )
  .chain((parts) => fc.constantFrom(1, 7, 60).map((times) => parts.join('').repeat(times)));

describe('TextBlocks', () => {
  it('keeps a short text in one block, which keeps its key', () => {
    expect(grow(['Hel', 'lo\n', 'world'])).toEqual([
      [{ key: 0, text: 'Hel' }],
      [{ key: 0, text: 'Hello\n' }],
      [{ key: 0, text: 'Hello\nworld' }],
    ]);
  });

  it('has no block for no text', () => {
    expect(new TextBlocks().next('')).toEqual([]);
  });

  it('ends a block with its line', () => {
    const line = 'word '.repeat(130) + '\n';
    const [blocks] = grow([line + line + 'rest']);

    expect(blocks?.map(({ text }) => text)).toEqual([line, line, 'rest']);
  });

  it('ends a block without line feeds with a word', () => {
    const [blocks] = grow(['word '.repeat(1000)]);

    expect(blocks?.map(({ text }) => text.length)).toEqual([4000, 1000]);
    expect(blocks?.[0]?.text.endsWith('word ')).toBe(true);
  });

  it.each(['😀', '👍🏽', 'e\u0301', '👩‍👩‍👧'])('cuts text without words, but not within %s', (character) => {
    const [blocks = []] = grow(['x' + character.repeat(3000)]);

    expect(blocks.length).toBeGreaterThan(1);
    for (const { text } of blocks.slice(1)) expect(text.startsWith(character)).toBe(true);
  });

  it('leaves the blocks before the last one as they are', () => {
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 8 }), (pieces) => {
        const steps = grow(pieces);
        steps.slice(1).forEach((blocks, i) => {
          steps[i]!.slice(0, -1).forEach((block, n) => expect(blocks[n]).toBe(block));
        });
      }),
      { numRuns: 60 },
    );
  });

  it('cuts a text in the same places however it came, and loses nothing of it', () => {
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 8 }), (pieces) => {
        const text = pieces.join('');
        const blocks = grow(['', ...pieces]).at(-1)!;
        expect(whole(blocks)).toBe(text);
        expect(blocks).toEqual(new TextBlocks().next(text));
        for (const block of blocks) expect(block.text.length).toBeLessThanOrEqual(4001);
        expect(blocks.map(({ key }) => key)).toEqual(blocks.map((_, i) => i));
      }),
      { numRuns: 60 },
    );
  });
});
