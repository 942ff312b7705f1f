/** Text as one piece, to be cut into words, or as the pieces in which it is to come. */
export type TurnText = string | readonly string[];

/** A tool call of a turn. */
export interface TurnToolCall {
  readonly name: string;
  /** JSON text as it stands, or a value to be written as JSON; default no arguments at all (empty text). */
  readonly arguments?: string | object;
  /** Default `call_1`, `call_2`… (`toolu_1`… on Messages). */
  readonly id?: string;
}

/** What a turn of any endpoint but images may hold besides its text. */
export interface TurnParts {
  readonly reasoning?: TurnText;
  readonly refusal?: TurnText;
  readonly toolCalls?: readonly TurnToolCall[];
}

/** The time at which all built events claim to have been created: seconds since 1970. */
export const CREATED = 1_700_000_000;
export const MODEL = 'test-model';

/** `'Hello big world'` comes as `'Hello'`, `' big'`, `' world'`. */
export function piecesOf(text: TurnText | undefined): readonly string[] {
  if (text === undefined) return [];
  return typeof text === 'string' ? (text.match(/\s*\S+(?:\s+$)?|\s+/g) ?? []) : text;
}

export function textOf(text: TurnText | undefined): string {
  return piecesOf(text).join('');
}

export function argumentsText(value: string | object | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const ARGUMENT_PIECE = 10;

/** Arguments come in pieces that end anywhere, in the middle of a word too. */
export function argumentPieces(value: string | object | undefined): readonly string[] {
  return argumentsText(value).match(new RegExp(`[^]{1,${ARGUMENT_PIECE}}`, 'gu')) ?? [];
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/**
 * Names values `a`, `b`, `c`… in their order, to be used in a diagram.
 *
 * @throws `RangeError` where there are more than 52: after `z` come `A` to `Z`, and then there are no letters left.
 *
 * @example
 * ```ts
 * import { textDeltas } from 'rx-llm';
 * import { chat, letters, marbles } from 'rx-llm/testing';
 *
 * it(
 *   'reads a whole turn',
 *   marbles(({ cold, expectObservable }) => {
 *     // The role, ' Hello', ' world', the finish reason.
 *     const e1 = cold('a-b-c-d|', letters(chat.turn('Hello world')));
 *     expectObservable(e1.pipe(textDeltas())).toBe('--x-y--|', { x: 'Hello', y: ' world' });
 *   }),
 * );
 * ```
 */
export function letters<T>(values: readonly T[]): Record<string, T> {
  if (values.length > LETTERS.length) {
    throw new RangeError(`There are ${LETTERS.length} letters, and ${values.length} values to name.`);
  }
  return Object.fromEntries(values.map((value, index) => [LETTERS.charAt(index), value]));
}
