/**
 * The token rule of this gateway: with the space before it, if there is one, a token is
 * - up to six letters or digits of one word,
 * - one character of a script that is written without spaces (Han, Kana, Hangul, Thai, ...), with its marks,
 * - one emoji, however many code points it takes, or
 * - up to three other signs in a row;
 * a run of line breaks, and any other white space, is a token of its own.
 *
 * It is near the counts of real tokenizers for plain text, needs no vocabulary, never splits a character, and the tokens put
 * together are the text.
 */
const TOKEN =
  / ?(?:\p{RI}\p{RI}|\p{Extended_Pictographic}(?:\p{EMod}|\uFE0F|\u200D\p{Extended_Pictographic})*|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]\p{M}*|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}])[\p{L}\p{N}]\p{M}*){1,6}|[^\s\p{L}\p{N}\p{RI}\p{Extended_Pictographic}]{1,3}|\S)|[\r\n]+|\s/gu;

/** The text cut into tokens. */
export function tokenize(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

const PART = 10_000;
const SPACE = 0x20;

export function countTokens(text: string): number {
  // In parts, so that a long document does not become millions of strings at once; a cut between words changes nothing.
  let count = 0;
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + PART, text.length);
    while (to < text.length && text.charCodeAt(to) !== SPACE && to < from + 2 * PART) to++;
    count += tokenize(text.slice(from, to)).length;
    from = to;
  }
  return count;
}
