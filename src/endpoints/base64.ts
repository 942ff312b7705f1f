/**
 * Base64 text that comes in pieces. They may be cut anywhere, or be whole texts of their own, with padding; a padded
 * end has to be opened before anything can follow it.
 */
export class Base64Text {
  #aligned = '';
  #padded = '';

  /** Adds a piece, and returns all of it. */
  append(piece: string): string {
    const opened = this.#padded === '' ? piece : reopen(this.#padded, piece);
    if (opened.endsWith('=')) {
      this.#aligned += opened.slice(0, -4);
      this.#padded = opened.slice(-4);
    } else {
      this.#aligned += opened;
      this.#padded = '';
    }
    return this.#aligned + this.#padded;
  }
}

function reopen(padded: string, piece: string): string {
  try {
    return btoa(atob(padded) + atob(piece));
  } catch {
    // No base64 after all.
    return padded + piece;
  }
}
