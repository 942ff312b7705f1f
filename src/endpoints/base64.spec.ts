import fc from 'fast-check';
import { Base64Text } from './base64.js';

const encode = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

function joined(pieces: readonly string[]): string {
  const text = new Base64Text();
  return pieces.reduce((_, piece) => text.append(piece), '');
}

describe('Base64Text', () => {
  it('joins texts of their own, padded or not, into the text of all their bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), (parts) => {
        expect(joined(parts.map(encode))).toBe(encode(Buffer.concat(parts)));
      }),
    );
  });

  it('joins a text that was cut anywhere', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(50), (bytes, at) => {
        const whole = encode(bytes);
        // A cut within the padding makes two texts that are none.
        const cut = Math.min(at, whole.replace(/=+$/, '').length);
        expect(joined([whole.slice(0, cut), whole.slice(cut)])).toBe(whole);
      }),
    );
  });

  it('keeps what is no base64', () => {
    expect(joined(['YQ==', '*'])).toBe('YQ==*');
  });
});
