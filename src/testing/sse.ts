import { endpointOf, type EndpointName, type EventsOf } from '../events.js';
import { encodeServerSentEvent } from '../sse/encode.js';
import type { ServerSentEvent } from '../sse/server-sent-event.js';

/** An event of any endpoint. */
export type WireEvent = EventsOf[EndpointName];

const DONE = 'data: [DONE]\n\n';

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The endpoint's own framing: chunks of a chat have no name, all other events are named by their type. */
function frame(event: WireEvent): string {
  const data = JSON.stringify(event);
  return encodeServerSentEvent(event.type === undefined ? { data } : { type: event.type, data });
}

/**
 * The bytes of events on the wire. `sse(a, b)` are the frames of these events, named as the endpoint names them.
 *
 * @example
 * ```ts
 * import { chat, responses, sse } from 'rx-llm/testing';
 *
 * sse(chat.text('Hi')); // data: {"id":"chatcmpl-1",…}
 * sse(responses.text('Hi')); // event: response.output_text.delta, data: {"type":"response.output_text.delta",…}
 * sse.whole(chat.turn('Hello world')); // all frames, and [DONE]
 * sse.comment('keepalive'); // : keepalive
 * ```
 */
export const sse: {
  (...events: readonly WireEvent[]): Uint8Array;
  /** `data: [DONE]`. */
  readonly done: Uint8Array;
  /** A whole answer, with `[DONE]` where the endpoint ends so: on chat and images. */
  whole(events: readonly WireEvent[]): Uint8Array;
  /** A line that is no event, which servers send to keep the connection alive. */
  comment(text: string): Uint8Array;
  /** Any other frame. */
  frame(event: ServerSentEvent): Uint8Array;
} = Object.assign((...events: readonly WireEvent[]) => bytes(events.map(frame).join('')), {
  done: Uint8Array.from(DONE, (character) => character.charCodeAt(0)),
  whole(events: readonly WireEvent[]): Uint8Array {
    const last = events.at(-1);
    const endpoint = last && endpointOf(last);
    const end = endpoint === 'chatCompletions' || endpoint === 'images' ? DONE : '';
    return bytes(events.map(frame).join('') + end);
  },
  comment: (text: string) => bytes(encodeServerSentEvent({ comment: text })),
  frame: (event: ServerSentEvent) => bytes(encodeServerSentEvent(event)),
});

/** Where to split: pieces of one size, of these sizes in turn, or of sizes that a seed decides. */
export type Split = number | readonly number[] | { readonly seed: number; readonly maxBytes?: number };

/**
 * Splits bytes anywhere, in the middle of a character too, as networks do. After the last of several sizes the rest
 * comes as one piece. A seed gives pieces of 1 to `maxBytes` (16) bytes, the same for the same seed.
 *
 * @throws `RangeError` for a size that is not a positive integer.
 *
 * @example
 * ```ts
 * import { chat, letters, splitBytes, sse } from 'rx-llm/testing';
 *
 * const bytes = sse.whole(chat.turn('Grüße, 世界'));
 * letters(splitBytes(bytes, [7, 1, 100])); // { a: 7 bytes, b: 1 byte, c: 100 bytes, d: the rest }
 * splitBytes(bytes, { seed: 42 });
 * ```
 */
export function splitBytes(source: Uint8Array | string, split: Split): Uint8Array[] {
  const whole = typeof source === 'string' ? bytes(source) : source;
  const size = sizes(split);
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < whole.length;) {
    const length = size();
    if (!(length >= 1) || (length !== Infinity && !Number.isInteger(length))) {
      throw new RangeError(`A piece has at least one byte, and whole ones: ${length} is no size.`);
    }
    pieces.push(whole.subarray(start, start + length));
    start += length;
  }
  return pieces;
}

function sizes(split: Split): () => number {
  if (typeof split === 'number') return () => split;
  if ('seed' in split) {
    const { seed, maxBytes = 16 } = split;
    const random = randomFrom(seed);
    return () => 1 + Math.floor(random() * maxBytes);
  }
  let next = 0;
  return () => split[next++] ?? Infinity;
}

/** Numbers from 0 to 1 that only depend on the seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000;
  };
}
