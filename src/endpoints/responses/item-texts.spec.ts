import { ItemTexts } from './item-texts.js';

/** What is emitted while `feed` runs, piece by piece. */
function emitted(feed: (texts: ItemTexts) => void): string[] {
  const pieces: string[] = [];
  feed(new ItemTexts((piece) => pieces.push(piece)));
  return pieces;
}

const textOf = ({ text }: { readonly [name: string]: unknown }): string => String(text ?? '');

describe('ItemTexts', () => {
  it('finds an item by its index, else by its id, else takes the one that was opened last', () => {
    emitted((texts) => {
      const first = texts.of({ output_index: 0, item: { id: 'a' } });
      const second = texts.of({ output_index: 1, item: { id: 'b' } });

      expect(second).not.toBe(first);
      expect(texts.of({ output_index: 0 })).toBe(first);
      expect(texts.of({ output_index: 0, item_id: 'b' })).toBe(first);
      expect(texts.of({ item_id: 'a' })).toBe(first);
      expect(texts.of({ item_id: 'unheard' })).toBe(second);
      expect(texts.of({})).toBe(second);
    });
  });

  it('takes the first item where none was opened', () => {
    emitted((texts) => expect(texts.of({})).toBe(texts.of({ output_index: 0 })));
  });

  it('tells items apart that have no ids', () => {
    emitted((texts) => {
      const first = texts.of({ output_index: 0, item: {} });
      texts.of({ output_index: 1, item: { id: '' } });
      expect(texts.of({ output_index: 0, item_id: '' })).toBe(first);
    });
  });

  it('adds what a part holds beyond the text of its item', () => {
    const pieces = emitted((texts) => {
      const item = texts.of({});
      texts.add(item, 'a');
      texts.part(item, 0, 'ab');
      texts.part(item, 0, 'ab');
      texts.part(item, 7, 'ab');
    });
    expect(pieces).toEqual(['a', 'b']);
  });

  it('adds what a second part holds beyond its own deltas', () => {
    const pieces = emitted((texts) => {
      const item = texts.of({});
      texts.add(item, 'ab');
      texts.part(item, 0, 'ab');
      texts.add(item, 'c');
      texts.part(item, 1, 'cd');
      texts.part(item, 1, 'cd');
      texts.item(item, 'abcde');
    });
    expect(pieces).toEqual(['ab', 'c', 'd', 'e']);
  });

  it('adds nothing of a part, an item or a response that tell it otherwise', () => {
    const pieces = emitted((texts) => {
      const item = texts.of({ output_index: 0 });
      texts.add(item, 'abc');
      texts.part(item, 0, 'abX and more');
      texts.part(item, 0, 'abX and more');
      texts.item(item, 'X');
      texts.item(item, 'abX and more');
      texts.response({ output: [{ text: 'abX and more' }] }, textOf);
    });
    expect(pieces).toEqual(['abc']);
  });

  it('adds what the response holds beyond all items', () => {
    const pieces = emitted((texts) => {
      texts.add(texts.of({ output_index: 0 }), 'ab');
      texts.add(texts.of({ output_index: 1 }), 'c');
      texts.response({ output: [{ text: 'ab' }, { text: 'cd' }, { text: 'e' }] }, textOf);
      texts.response({ output: [{ text: 'ab' }, { text: 'cd' }, { text: 'e' }] }, textOf);
    });
    expect(pieces).toEqual(['ab', 'c', 'de']);
  });

  it('completes items one by one where an earlier one is not whole', () => {
    const pieces = emitted((texts) => {
      texts.add(texts.of({ output_index: 0, item: { id: 'a' } }), 'a');
      texts.add(texts.of({ output_index: 1, item: { id: 'b' } }), 'c');
      texts.response({ output: [{ text: 'new' }, { id: 'a', text: 'ab' }, { id: 'b', text: 'cd' }] }, textOf);
    });
    expect(pieces).toEqual(['a', 'c', 'b', 'd']);
  });

  it('adds an item that only the response lists, though others are told in another order', () => {
    const pieces = emitted((texts) => {
      texts.add(texts.of({ output_index: 1, item: { id: 'b' } }), 'second');
      texts.response(
        {
          output: [
            { id: 'a', text: 'first' },
            { id: 'b', text: 'second' },
          ],
        },
        textOf,
      );
    });
    expect(pieces).toEqual(['second', 'first']);
  });

  it('adds no item that it knows under another place', () => {
    const pieces = emitted((texts) => {
      texts.add(texts.of({ output_index: 3 }), 'one');
      texts.add(texts.of({ output_index: 1 }), 'two');
      texts.response({ output: [{ text: 'two' }, { text: 'one' }] }, textOf);
    });
    expect(pieces).toEqual(['one', 'two']);
  });

  it('asks the fallback only where the response lists no text', () => {
    const listed = emitted((texts) => texts.response({ output: [{ text: 'a' }] }, textOf, 'b'));
    const bare = emitted((texts) => texts.response({}, textOf, 'b'));
    expect([listed, bare]).toEqual([['a'], ['b']]);
  });
});
