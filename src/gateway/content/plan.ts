import { random } from './random.js';
import { instance } from './schema.js';
import { compose, conclude, declines, hintsOf, ponder, REFUSAL_TEXT } from './text.js';
import { countTokens, tokenize } from './tokens.js';

export interface ToolSpec {
  readonly name: string;
  /** A custom tool takes free text instead of JSON. */
  readonly custom: boolean;
  readonly schema: unknown;
}

/** A request of any text endpoint, reduced to what the answer depends on. */
export interface Ask {
  readonly model: string;
  readonly stream: boolean;
  /** The last words of the user; they shape the answer. */
  readonly prompt: string;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: 'auto' | 'none' | 'required' | { readonly name: string };
  /** `undefined`: the request does not say, and the prompt decides. */
  readonly parallel: boolean | undefined;
  /** How often the user has spoken: a question that is asked again gets calls with new ids. */
  readonly turns: number;
  /** Results that came back since the user last spoke. */
  readonly toolResults: readonly { readonly name: string; readonly text: string }[];
  /** How hard to think, when thinking was asked for. */
  readonly effort: string | undefined;
  /** The schema of a structured answer; `true` is any JSON object. */
  readonly format: unknown;
  readonly maxTokens: number | undefined;
  readonly n: number;
  readonly stop: readonly string[];
  readonly seed: string;
}

export interface PlannedCall {
  readonly id: string;
  readonly name: string;
  readonly custom: boolean;
  /** Pieces of the arguments, one token each. */
  readonly pieces: readonly string[];
}

export type Finish = 'stop' | 'stop_sequence' | 'length' | 'tool_calls' | 'content_filter' | 'refusal';

export interface PlannedChoice {
  readonly reasoning: readonly string[];
  readonly text: readonly string[];
  readonly refusal: readonly string[];
  readonly calls: readonly PlannedCall[];
  readonly finish: Finish;
  readonly stopSequence: string | undefined;
}

/** The whole answer, decided before its first byte goes out; streamed and not streamed are two renderings of it. */
export interface Plan {
  readonly choices: readonly [PlannedChoice, ...PlannedChoice[]];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

const callTokens = (call: PlannedCall): number => countTokens(call.name) + call.pieces.length;

/** What faults change about an answer. */
export interface Changes {
  /** End early, as `length` or `content_filter`, after so many tokens. */
  readonly incomplete?: { readonly after: number; readonly finish: 'length' | 'content_filter' };
  /** Put a piece of so many bytes into the text, after so many tokens. */
  readonly huge?: { readonly after: number; readonly bytes: number };
}

export function plan(ask: Ask, changes: Changes = {}): Plan {
  const choice = (i: number) => limit(enlarge(choose(ask, i), changes), ask, changes);
  const choices = [choice(0), ...Array.from({ length: ask.n - 1 }, (_, i) => choice(i + 1))] as const;
  const count = (pieces: (c: PlannedChoice) => number) => choices.reduce((sum, choice) => sum + pieces(choice), 0);
  return {
    choices,
    inputTokens: ask.inputTokens,
    outputTokens: count(
      (c) =>
        c.reasoning.length + c.text.length + c.refusal.length + c.calls.reduce((n, call) => n + callTokens(call), 0),
    ),
    reasoningTokens: count((c) => c.reasoning.length),
  };
}

function choose(ask: Ask, index: number): PlannedChoice {
  const seed = `${ask.seed}/${ask.turns}.${ask.toolResults.length}/${index}`;
  const empty = { reasoning: [], text: [], refusal: [], calls: [], finish: 'stop', stopSequence: undefined } as const;
  if (declines(ask.prompt)) return { ...empty, refusal: tokenize(REFUSAL_TEXT), finish: 'refusal' };
  const reasoning = ask.effort === undefined ? [] : tokenize(ponder(ask.prompt, seed, ask.effort));
  const calls = callsOf(ask, seed);
  if (calls.length > 0) return { ...empty, reasoning, calls, finish: 'tool_calls' };
  const text =
    ask.format !== undefined
      ? JSON.stringify(
          instance(
            ask.format === true ? ANY_OBJECT : ask.format,
            random(`${seed}\n${ask.prompt}`),
            hintsOf(ask.prompt),
          ),
        )
      : ask.toolResults.length > 0
        ? conclude(ask.prompt, ask.toolResults, seed)
        : compose(ask.prompt, seed);
  return { ...empty, reasoning, ...stopAt(text, ask.stop) };
}

const ANY_OBJECT = {
  type: 'object',
  properties: {
    topic: { type: 'string' },
    summary: { type: 'string' },
    score: { type: 'integer', minimum: 0, maximum: 100 },
  },
};

function stopAt(text: string, stops: readonly string[]): Pick<PlannedChoice, 'text' | 'finish' | 'stopSequence'> {
  let end = text.length;
  let stopSequence: string | undefined;
  for (const stop of stops) {
    const at = stop === '' ? -1 : text.indexOf(stop);
    if (at >= 0 && at < end) [end, stopSequence] = [at, stop];
  }
  return {
    text: tokenize(text.slice(0, end)),
    finish: stopSequence === undefined ? 'stop' : 'stop_sequence',
    stopSequence,
  };
}

const MAX_CALLS = 4;

function callsOf(ask: Ask, seed: string): PlannedCall[] {
  const { toolChoice, tools } = ask;
  if (tools.length === 0 || toolChoice === 'none') return [];
  const forced = toolChoice !== 'auto';
  if (!forced && ask.toolResults.length > 0) return [];
  const allowed = typeof toolChoice === 'object' ? tools.filter((tool) => tool.name === toolChoice.name) : tools;
  const prompt = ask.prompt.toLowerCase();
  const spoken = (tool: ToolSpec) =>
    prompt.includes(tool.name.toLowerCase()) || words(tool.name).some((word) => prompt.includes(word));
  const mentioned = allowed.filter(spoken);
  const several =
    mentioned.length > 1 ||
    /\b(?:both|each|every|parallel|all of|respectively)\b|\b\p{Lu}\p{L}+,? and (?:in |for |to )?\p{Lu}/u.test(
      ask.prompt,
    );
  let chosen: readonly ToolSpec[] = mentioned.length > 0 ? mentioned : allowed.slice(0, 1);
  if (ask.parallel === false || typeof toolChoice === 'object') chosen = chosen.slice(0, 1);
  else if (ask.parallel === true || several) {
    if (chosen.length < 2 && allowed.length > 1 && mentioned.length === 0) chosen = allowed;
    const [only] = chosen;
    if (chosen.length === 1 && only) chosen = [only, only];
  } else chosen = chosen.slice(0, 1);

  // Calls of one tool take turns with the names in the prompt, so that each is about another thing.
  const hints = hintsOf(ask.prompt);
  const said = new Set(allowed.flatMap((tool) => [tool.name.toLowerCase(), ...words(tool.name)]));
  const subjects = hints.words.filter((word) => !said.has(word.toLowerCase()));
  return chosen.slice(0, MAX_CALLS).map((tool, i) => {
    const dice = random(`${seed}/${i}\n${tool.name}\n${ask.prompt}`);
    const repeated = chosen.indexOf(tool) === i ? 0 : i;
    const offered = { words: subjects.slice(repeated), numbers: hints.numbers.slice(repeated) };
    const text = tool.custom
      ? `${tool.name}(${offered.words[0] ?? 'go'}) ✓`
      : JSON.stringify(instance(isEmpty(tool.schema) ? { type: 'object' } : tool.schema, dice, offered));
    return { id: dice.id(16), name: tool.name, custom: tool.custom, pieces: tokenize(text) };
  });
}

const words = (name: string) =>
  name
    .split(/[_\-.\s]|(?<=[a-z])(?=[A-Z])/)
    .map((word) => word.toLowerCase())
    .filter((word) => word.length > 3);
const isEmpty = (schema: unknown) => typeof schema !== 'object' || schema === null;

function enlarge(choice: PlannedChoice, { huge }: Changes): PlannedChoice {
  if (huge === undefined) return choice;
  const piece = 'huge '.repeat(Math.ceil(huge.bytes / 5)).slice(0, huge.bytes);
  const text = [...choice.text];
  text.splice(huge.after, 0, piece);
  return { ...choice, text };
}

/** Cuts the choice where its tokens run out: thinking counts first, then text, then the arguments of calls. */
function limit(choice: PlannedChoice, ask: Ask, { incomplete }: Changes): PlannedChoice {
  let left = Math.min(ask.maxTokens ?? Infinity, incomplete?.after ?? Infinity);
  const total =
    choice.reasoning.length +
    choice.text.length +
    choice.refusal.length +
    choice.calls.reduce((n, c) => n + callTokens(c), 0);
  if (total <= left && incomplete === undefined) return choice;
  const take = (pieces: readonly string[]) => {
    const kept = pieces.slice(0, left);
    left -= kept.length;
    return kept;
  };
  const reasoning = take(choice.reasoning);
  const refusal = take(choice.refusal);
  const text = take(choice.text);
  const calls: PlannedCall[] = [];
  for (const call of choice.calls) {
    const name = countTokens(call.name);
    if (left < name || left === 0) break;
    left -= name;
    calls.push({ ...call, pieces: take(call.pieces) });
  }
  return { reasoning, refusal, text, calls, finish: incomplete?.finish ?? 'length', stopSequence: undefined };
}
