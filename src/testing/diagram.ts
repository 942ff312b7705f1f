/** One line of marbles: what stands at which frame. A line is over at `|`, `#` or `!`. */
export type Line = ReadonlyMap<number, readonly string[]>;

export interface Diagram {
  readonly lines: readonly string[];
  /** The column of a frame's first mark, the same in every line. */
  column(frame: number): number;
}

/** Beyond this, silence is written as a duration. */
const MAX_DASHES = 12;

/**
 * Draws several lines on one axis, so that what happens in the same frame stands in the same column. Each line is in
 * the syntax of `TestScheduler.run`, time included, as long as no frame lies within the width of a group before it.
 */
export function draw(lines: readonly Line[]): Diagram {
  const frames = [...new Set(lines.flatMap((line) => [...line.keys()]))].sort((a, b) => a - b);
  const columns = new Map<number, number>();
  const texts: string[][] = lines.map(() => []);
  const over = lines.map(() => false);
  let column = 0;

  const silence = (length: number): void => {
    let text = '-'.repeat(length);
    if (length > MAX_DASHES || !Number.isInteger(length)) {
      const duration = `${Number(length.toFixed(6))}ms `;
      text = column === 0 ? duration : ` ${duration}`;
    }
    column += text.length;
    over.forEach((isOver, index) => texts[index]?.push(isOver ? ' '.repeat(text.length) : text));
  };

  silence(frames[0] ?? 0);
  frames.forEach((frame, position) => {
    columns.set(frame, column);
    const cells = lines.map((line) => cell(line.get(frame)));
    const width = Math.max(...cells.map(lengthOf));
    const gap = (frames[position + 1] ?? frame + 1) - frame;
    cells.forEach((text, index) => {
      if (lines[index]?.get(frame)?.some((mark) => mark === '|' || mark === '#' || mark === '!')) over[index] = true;
      // Dashes are time: no more of them than there are frames until the next mark.
      const dashes = over[index] ? 0 : Math.max(0, Math.min(width, gap) - lengthOf(text));
      texts[index]?.push((text + '-'.repeat(dashes)).padEnd(width + text.length - lengthOf(text)));
    });
    column += width;
    if (position < frames.length - 1) silence(Math.max(0, gap - width));
  });

  return { lines: texts.map((parts) => parts.join('').trimEnd()), column: (frame) => columns.get(frame) ?? column };
}

function cell(marks: readonly string[] | undefined): string {
  if (!marks) return '';
  return marks.length === 1 ? (marks[0] ?? '') : `(${marks.join('')})`;
}

/** In characters as the reader counts them, not in UTF-16 units: an emoji is one marble. */
export function lengthOf(text: string): number {
  return [...text].length;
}
