import fc from 'fast-check';
import { insert, overlay, put, putAt } from './snapshot.js';

const json = fc.jsonValue({ maxDepth: 4 });

describe('overlay', () => {
  it('is the older value itself where the newer is equal', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(overlay(value, structuredClone(value))).toBe(value);
      }),
    );
  });

  it('changes neither value', () => {
    fc.assert(
      fc.property(json, json, (older, newer) => {
        const before = structuredClone([older, newer]);
        overlay(older, newer);
        expect([older, newer]).toEqual(before);
      }),
    );
  });

  it('is stable: once laid over, the newer value changes nothing more', () => {
    fc.assert(
      fc.property(json, json, (older, newer) => {
        const laid = overlay<unknown>(older, newer);
        expect(overlay(laid, structuredClone(newer))).toBe(laid);
      }),
    );
  });

  it.each([undefined, null, '', []])('lets %j erase nothing', (empty) => {
    expect(overlay({ a: 1, b: 'x' }, { a: empty, b: empty })).toEqual({ a: 1, b: 'x' });
  });

  it('keeps an empty value where there was none', () => {
    expect(overlay({}, { a: null, b: [], c: '', d: undefined })).toEqual({ a: null, b: [], c: '' });
  });

  it('replaces lists as a whole, but for members that are equal', () => {
    const older = { list: [{ a: 1 }, { b: 2 }] };
    const laid = overlay(older, { list: [{ a: 1 }, { b: 3 }, { c: 4 }] });

    expect(laid.list).toEqual([{ a: 1 }, { b: 3 }, { c: 4 }]);
    expect(laid.list[0]).toBe(older.list[0]);
  });

  it('lays parts over parts of the same type', () => {
    const older = { content: [{ type: 'a', text: 'x', notes: [1] }, { type: 'b' }] };

    expect(overlay(older, { content: [{ type: 'a', text: 'y', notes: [] }, { type: 'c' }] })).toEqual({
      content: [{ type: 'a', text: 'y', notes: [1] }, { type: 'c' }],
    });
  });

  it('keeps a field named __proto__ a field', () => {
    const laid = overlay({}, JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":{"c":1}}}'));

    expect(Object.getPrototypeOf(laid)).toBe(Object.prototype);
    expect(JSON.stringify(laid)).toBe('{"__proto__":{"a":1},"b":{"__proto__":{"c":1}}}');
  });

  it('does not follow a hostile depth', () => {
    const objects = (): unknown => JSON.parse('{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000));
    const lists = (): unknown => JSON.parse('['.repeat(100_000) + '1' + ']'.repeat(100_000));
    const both = (): unknown => JSON.parse('[{"a":'.repeat(50_000) + '1' + '}]'.repeat(50_000));

    for (const deep of [objects, lists, both]) expect(() => overlay(deep(), deep())).not.toThrow();
  });
});

describe('put', () => {
  it('is the object itself where the field has that value', () => {
    const object = { a: 1 };

    expect(put(object, 'a', 1)).toBe(object);
    expect(put(object, 'a', 2)).toEqual({ a: 2 });
    expect(put(object, 'b', undefined)).toHaveProperty('b');
  });
});

describe('putAt and insert', () => {
  it('give a new list, unless nothing changes', () => {
    const list = ['a', 'b'];

    expect(putAt(list, 1, 'b')).toBe(list);
    expect(putAt(list, 2, 'c')).toEqual(['a', 'b', 'c']);
    expect(insert(list, 0, 'c')).toEqual(['c', 'a', 'b']);
    expect(insert(list, 2, 'c')).toEqual(['a', 'b', 'c']);
    expect(list).toEqual(['a', 'b']);
  });
});
