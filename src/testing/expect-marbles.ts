import { difference, equal } from './difference.js';
import { draw, lengthOf, type Line } from './diagram.js';
import { print, printMessage } from './print.js';

/** A notification and the frame it came in, as the `TestScheduler` hands it over. */
interface TestMessage {
  readonly frame: number;
  readonly notification: { readonly kind: 'N' | 'E' | 'C'; readonly value?: unknown; readonly error?: unknown };
}

interface SubscriptionLog {
  readonly subscribedFrame: number;
  readonly unsubscribedFrame: number;
}

/** Marbles and what they stand for. */
export type MarbleValues = Readonly<Record<string, unknown>>;

/** What a failed marble expectation throws. */
export class MarbleMismatch extends Error {
  override readonly name = 'MarbleMismatch';
}

/**
 * The assertion of a `TestScheduler`: on failure it draws what was expected and what was received as marble diagrams
 * under each other, says where they part, and lists what the marbles stand for. It depends on no test runner.
 *
 * `values` gives the diagrams the marbles that the test uses; other values get a marble of their own. Values are
 * compared deeply, a property that is `undefined` like one that is missing; errors by class, message and own fields;
 * `expect.objectContaining(…)` and the like, and {@link errorWith}, may stand for a value or an error.
 *
 * ```text
 * emissions differ
 *
 *   expected  -a-x-|
 *   received  -a--b|
 *                ↑
 * first difference: expected x at 3ms, received b at 4ms
 * ```
 *
 * @param values - What the marbles of the test stand for, to name them in the diagrams.
 * @throws {@link MarbleMismatch} from the scheduler's `flush()`, and so at the end of `run()`.
 *
 * @example
 * ```ts
 * import { map } from 'rxjs';
 * import { TestScheduler } from 'rxjs/testing';
 * import { expectMarbles } from 'rx-llm/testing';
 *
 * it('doubles', () => {
 *   new TestScheduler(expectMarbles({ a: 1, b: 2 })).run(({ cold, expectObservable }) => {
 *     expectObservable(cold('-a|', { a: 1 }).pipe(map((n) => 2 * n))).toBe('-b|', { b: 2 });
 *   });
 * });
 * ```
 */
export function expectMarbles(values: MarbleValues = {}): (received: unknown, expected: unknown) => void {
  return (received, expected) => {
    const message = mismatch(received, expected, values);
    if (message !== undefined) throw new MarbleMismatch(message);
  };
}

/** What to say of an expectation that is not met; `undefined` if it is. */
export function mismatch(received: unknown, expected: unknown, values: MarbleValues): string | undefined {
  if (equal(received, expected)) return undefined;
  if (areSubscriptions(received) && areSubscriptions(expected)) return subscriptionMismatch(received, expected);
  if (areMessages(received) && areMessages(expected)) return emissionMismatch(received, expected, values);
  return `values differ\n\n  expected  ${print(expected)}\n  received  ${print(received)}\n`;
}

function emissionMismatch(
  received: readonly TestMessage[],
  expected: readonly TestMessage[],
  values: MarbleValues,
): string {
  const names = new Names(values);
  const diagram = draw([lineOf(expected, names), lineOf(received, names)]);

  let index = 0;
  while (index < expected.length && equal(received[index], expected[index])) index++;
  const want = expected[index];
  const got = received[index];
  const late = !want || (got && got.frame < want.frame);
  const [first, side] = late ? [got, received] : [want, expected];
  const pointer = first ? diagram.column(first.frame) + offsetInGroup(side, index, names) : undefined;

  const say = (message: TestMessage | undefined): string =>
    message ? `${names.mark(message)} at ${time(message.frame)}` : 'nothing';
  const errors = want?.notification.kind === 'E' && got?.notification.kind === 'E' && want.frame === got.frame;
  let text = errors ? `the errors at ${time(want.frame)} differ` : `expected ${say(want)}, received ${say(got)}`;
  if (want && got) text += inside(got, want);
  return report('emissions differ', diagram.lines.slice(0, 1), diagram.lines.slice(1), pointer, text, names.legend());
}

/** Where in the two values the difference lies, if they came at the same time and are not just two short values. */
function inside(got: TestMessage, want: TestMessage): string {
  if (got.frame !== want.frame || got.notification.kind !== want.notification.kind) return '';
  const isError = got.notification.kind === 'E';
  const found = isError
    ? difference(got.notification.error, want.notification.error)
    : difference(got.notification.value, want.notification.value);
  if (!found || (found.path === '' && !isError)) return '';
  const path = found.path === '' ? 'the error' : found.path.replace(/^\./, '');
  const show = isError && path === 'message' ? printMessage : print;
  return `\n  ${path}: expected ${show(found.expected)}, received ${show(found.received)}`;
}

function offsetInGroup(messages: readonly TestMessage[], index: number, names: Names): number {
  const frame = messages[index]?.frame;
  const group = messages.filter((message) => message.frame === frame);
  if (group.length < 2) return 0;
  const start = messages.findIndex((message) => message.frame === frame);
  const before = messages.slice(start, index).map((message) => lengthOf(names.mark(message)));
  return 1 + before.reduce((sum, width) => sum + width, 0);
}

function subscriptionMismatch(received: readonly SubscriptionLog[], expected: readonly SubscriptionLog[]): string {
  const { lines, column } = draw([...expected, ...received].map(subscriptionLine));
  let index = 0;
  while (index < expected.length && equal(received[index], expected[index])) index++;
  const want = expected[index];
  const got = received[index];
  const starts = [want, got].map((log) => log?.subscribedFrame ?? Infinity);
  const ends = [want, got].map((log) => log?.unsubscribedFrame ?? Infinity);
  const frame = Math.min(...(starts[0] === starts[1] ? ends : starts));

  const ordinal = Math.max(expected.length, received.length) > 1 ? `subscription ${index + 1}: ` : '';
  const say = (log: SubscriptionLog | undefined): string => {
    if (!log) return 'none';
    const end = log.unsubscribedFrame === Infinity ? 'never ended' : `ended at ${time(log.unsubscribedFrame)}`;
    return `one from ${time(log.subscribedFrame)}, ${end}`;
  };
  return report(
    'subscriptions differ',
    lines.slice(0, expected.length),
    lines.slice(expected.length),
    Number.isFinite(frame) ? column(frame) : undefined,
    `${ordinal}expected ${say(want)}; received ${say(got)}`,
    [],
  );
}

function report(
  title: string,
  expected: readonly string[],
  received: readonly string[],
  pointer: number | undefined,
  first: string,
  legend: readonly string[],
): string {
  const { lines, column } = cut([...expected, ...received], pointer);
  const labelled = (label: string, texts: readonly string[]): string[] =>
    (texts.length > 0 ? texts : ['']).map((text, index) =>
      `  ${(index === 0 ? label : '').padEnd(8)}  ${text || '(nothing)'}`.trimEnd(),
    );
  return [
    title,
    '',
    ...labelled('expected', lines.slice(0, expected.length)),
    ...labelled('received', lines.slice(expected.length)),
    ...(column === undefined ? [''] : [`${' '.repeat(12 + column)}↑`]),
    `first difference: ${first}`,
    ...(legend.length > 0 ? ['', ...legend.map((line) => `  ${line}`)] : []),
    '',
  ].join('\n');
}

const MAX_WIDTH = 120;

/** Long diagrams are cut to what surrounds the first difference, in every line at the same column. */
function cut(lines: readonly string[], pointer = 0): { lines: readonly string[]; column: number | undefined } {
  const width = Math.max(0, ...lines.map(lengthOf));
  if (width <= MAX_WIDTH) return { lines, column: pointer };
  const start = Math.max(0, Math.min(pointer - MAX_WIDTH / 2, width - MAX_WIDTH));
  const shown = lines.map((line) => {
    const all = [...line];
    const part = all.slice(start, start + MAX_WIDTH).join('');
    return (start > 0 ? '… ' : '') + part + (all.length > start + MAX_WIDTH ? ' …' : '');
  });
  return { lines: shown, column: pointer - start + (start > 0 ? 2 : 0) };
}

function lineOf(messages: readonly TestMessage[], names: Names): Line {
  const line = new Map<number, string[]>();
  for (const message of messages) {
    const marks = line.get(message.frame) ?? [];
    marks.push(names.mark(message));
    line.set(message.frame, marks);
  }
  return line;
}

function subscriptionLine({ subscribedFrame, unsubscribedFrame }: SubscriptionLog): Line {
  if (subscribedFrame === unsubscribedFrame) return new Map([[subscribedFrame, ['^', '!']]]);
  const line = new Map([[subscribedFrame, ['^']]]);
  return unsubscribedFrame === Infinity ? line : line.set(unsubscribedFrame, ['!']);
}

const time = (frame: number): string => `${Number(frame.toFixed(6))}ms`;

/** The characters that stand for values no marble of the test stands for, in the order of their use. */
const SPARE = [
  [0x2460, 20], // ① …
  [0x24b6, 52], // Ⓐ … ⓩ
  [0x3b1, 25], // α …
  [0x2801, 255], // ⠁ …
  [0x4e00, 0x5000], // 一 …
] as const;

function spare(index: number): string {
  let rest = index;
  for (const [start, count] of SPARE) {
    if (rest < count) return String.fromCodePoint(start + rest);
    rest -= count;
  }
  return '?';
}

/** Gives every value one marble, the same in both lines. */
class Names {
  readonly #known: readonly (readonly [string, unknown])[];
  readonly #used = new Map<string, unknown>();
  readonly #errors: unknown[] = [];
  #spares = 0;

  constructor(values: MarbleValues) {
    this.#known = Object.entries(values).filter(([name]) => lengthOf(name) === 1);
  }

  mark({ notification }: TestMessage): string {
    if (notification.kind === 'C') return '|';
    if (notification.kind === 'N') return this.#name(notification.value);
    if (!this.#errors.some((error) => equal(notification.error, error))) this.#errors.push(notification.error);
    return '#';
  }

  legend(): string[] {
    const lines = [...this.#used].filter(([name, value]) => name !== value).map(([name, v]) => `${name} = ${show(v)}`);
    return [...lines, ...this.#errors.filter((error) => error !== 'error').map((error) => `# = ${print(error)}`)];
  }

  #name(value: unknown): string {
    for (const [name, known] of [...this.#used, ...this.#known]) {
      if (equal(value, known)) return this.#use(name, known);
    }
    const taken = (name: string): boolean => this.#used.has(name) || this.#known.some(([known]) => known === name);
    if (typeof value === 'string' && /^[^\s()|#^!-]$/u.test(value) && !taken(value)) return this.#use(value, value);
    let name: string;
    do name = spare(this.#spares++);
    while (taken(name));
    return this.#use(name, value);
  }

  #use(name: string, value: unknown): string {
    this.#used.set(name, value);
    return name;
  }
}

/** An inner Observable was turned into its messages: those are drawn as a diagram of their own. */
function show(value: unknown): string {
  if (!areMessages(value) || value.length === 0) return print(value);
  const names = new Names({});
  const [line = ''] = draw([lineOf(value, names)]).lines;
  return [`an Observable of ${line}`, ...names.legend()].join('; ');
}

function areMessages(value: unknown): value is readonly TestMessage[] {
  return Array.isArray(value) && value.every((item) => isRecord(item) && isRecord(item['notification']));
}

function areSubscriptions(value: unknown): value is readonly SubscriptionLog[] {
  return Array.isArray(value) && value.every((item) => isRecord(item) && 'subscribedFrame' in item);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
