/** Repeatable randomness: the same words give the same numbers on every machine. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A whole number in [0, below). */
  int(below: number): number;
  pick<T>(from: readonly [T, ...T[]]): T;
  /** Lower-case letters and digits. */
  id(length: number): string;
}

/** FNV-1a, 32 bits: spreads well enough to seed a generator and needs no dependency. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    value ^= text.charCodeAt(i);
    value = Math.imul(value, 0x01000193);
  }
  return value >>> 0;
}

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

/** mulberry32 over the hash of the seed. */
export function random(seed: string): Random {
  let state = hash(seed);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const int = (below: number) => Math.floor(next() * below);
  return {
    next,
    int,
    pick: (from) => from[int(from.length)] ?? from[0],
    id: (length) => Array.from({ length }, () => ALPHABET.charAt(int(36))).join(''),
  };
}
