/** A piece of a long text. All pieces together are the text, line feeds included. */
export interface TextBlock {
  /** Counts from 0; names the block for as long as the text grows. */
  readonly key: number;
  readonly text: string;
}

/** From here on a block ends with its line. */
const LINE_AFTER = 600;
/** The most that a block holds, in UTF-16 units, when it has no line feed. */
const LONGEST = 4000;
/** No block is cut shorter than this for the sake of a word. */
const WORD_AFTER = 2000;

/** What must not be parted from the character before it. */
const JOINED = /^[\p{M}\p{Emoji_Modifier}\u200d]|^[\udc00-\udfff]/u;

/**
 * Cuts a growing text into blocks of which only the last one changes. The work of a call is in proportion to what was
 * added to the text; the blocks that stand are not read again. Where the text is cut does not depend on how it came.
 */
export class TextBlocks {
  #blocks: readonly TextBlock[] = [];
  /** How many blocks are closed, and where the next one begins. */
  #closed = 0;
  #from = 0;
  #length = 0;

  /** The blocks of a text that begins with the text of the call before. */
  next(text: string): readonly TextBlock[] {
    if (text.length === this.#length) return this.#blocks;
    this.#length = text.length;
    const blocks = this.#blocks.slice(0, this.#closed);
    const rest = text.slice(this.#from);
    let start = 0;
    const add = (end: number): void => {
      blocks.push({ key: blocks.length, text: rest.slice(start, end) });
    };
    for (let end = endOf(rest, start); end !== undefined; end = endOf(rest, start)) {
      add(end);
      start = end;
    }
    this.#closed = blocks.length;
    this.#from += start;
    if (start < rest.length) add(rest.length);
    this.#blocks = blocks;
    return blocks;
  }
}

/** Where the block that begins at `start` ends; `undefined` while it may grow. */
function endOf(text: string, start: number): number | undefined {
  const line = text.indexOf('\n', start + LINE_AFTER);
  if (line >= 0 && line < start + LONGEST) return line + 1;
  // Two more units, to see whether the next character can be parted from the last one.
  if (text.length < start + LONGEST + 2) return undefined;
  const word = text.lastIndexOf(' ', start + LONGEST - 1);
  if (word >= start + WORD_AFTER) return word + 1;
  let end = start + LONGEST;
  while (end > start + WORD_AFTER && (JOINED.test(text.slice(end, end + 2)) || text[end - 1] === '\u200d')) end--;
  return end;
}
