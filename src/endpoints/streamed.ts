function hash(text: string, length: number, seed: number): number {
  let value = seed;
  for (let i = 0; i < length; i++) value = (Math.imul(value, 31) + text.charCodeAt(i)) | 0;
  return value;
}

/**
 * A text that came in pieces, remembered in constant space: its length and a hash are enough to tell whether a text
 * that comes whole begins with it.
 */
export class Streamed {
  length = 0;
  #hash = 0;

  add(piece: string): void {
    this.length += piece.length;
    this.#hash = hash(piece, piece.length, this.#hash);
  }

  begins(whole: string): boolean {
    return this.length <= whole.length && hash(whole, this.length, 0) === this.#hash;
  }
}
