/** The longest tail that is left in pieces, at least, in UTF-16 units. */
const SHORTEST_TAIL = 256;

/**
 * Text that grows by pieces. Engines keep a concatenation as a rope of its pieces, which weighs many times the text;
 * reading a character makes it flat. Doing so whenever the text has grown by an eighth keeps the cost linear.
 */
export class TextSoFar {
  value = '';
  #flatUntil = SHORTEST_TAIL;

  add(piece: string): string {
    this.value += piece;
    if (this.value.length > this.#flatUntil) {
      this.value.charCodeAt(0);
      this.#flatUntil = this.value.length * 1.125 + SHORTEST_TAIL;
    }
    return this.value;
  }
}
