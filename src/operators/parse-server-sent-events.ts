import type { OperatorFunction } from 'rxjs';
import { EventTooLargeError } from '../errors.js';
import { FrameLimitError, FrameReader, MAX_EVENT_BYTES } from '../sse/frame-reader.js';
import type { ServerSentEvent } from '../sse/server-sent-event.js';
import { operate } from './operate.js';

export interface ParseServerSentEventsConfig {
  /** The most bytes that one event may have, counted before it is parsed. Default: 64 MiB. */
  readonly maxEventBytes?: number | undefined;
  /** Emit comments too, as events that hold nothing else. Default: `false`. */
  readonly comments?: boolean | undefined;
}

/**
 * Reads server-sent events out of bytes or text, wherever they are cut: in a line, between CR and LF, in a character.
 *
 * ```text
 * source                      --a--b----c--|     a: 'data: 1\n'  b: '\ndata'  c: ': 2\n\n'
 * parseServerSentEvents()     -----x----y--|     x: { data: '1' }  y: { data: '2' }
 * ```
 *
 * Emits an event at its blank line, and completes when the source does. It follows the standard but for two things
 * that gateways do: a lone CR at the end ends its line, and an event whose blank line is missing at a clean end is
 * emitted if its data is a JSON object, list or string, or `[DONE]`. The source's errors pass through, without what was unfinished; an event over
 * `maxEventBytes` is an `EventTooLargeError`. Unsubscribing leaves the source at once, in the middle of a read too.
 *
 * @example
 * ```ts
 * import { from, map } from 'rxjs';
 * import { parseServerSentEvents } from 'rx-llm';
 *
 * from(['data: {"n":1}\n', '\n'])
 *   .pipe(
 *     parseServerSentEvents(),
 *     map(({ data = '' }) => JSON.parse(data) as object),
 *   )
 *   .subscribe(console.log);
 * ```
 */
export function parseServerSentEvents({
  maxEventBytes = MAX_EVENT_BYTES,
  comments = false,
}: ParseServerSentEventsConfig = {}): OperatorFunction<Uint8Array | string, ServerSentEvent> {
  return operate((destination) => {
    let retry: number | undefined;
    let ended = false;
    /** All reads are done; what is emitted now stood without its blank line. */
    let atEnd = false;
    const reader = new FrameReader(
      {
        onEvent({ event, data, id }) {
          if (atEnd && !isWhole(data)) return;
          destination.next({
            ...(event !== undefined && { type: event }),
            data,
            ...(id !== undefined && { id }),
            ...(retry !== undefined && { retry }),
          });
          retry = undefined;
          if (destination.closed) reader.stop();
        },
        onComment: comments
          ? (comment) => {
              destination.next({ comment });
              if (destination.closed) reader.stop();
            }
          : undefined,
        onRetry(ms) {
          retry = ms;
        },
      },
      maxEventBytes,
    );
    // Whoever receives an event may make more come in, or the end: the read at hand is finished first.
    const chunks: (Uint8Array | string)[] = [];
    let reading = false;
    const readOn = (): void => {
      if (reading) return;
      reading = true;
      try {
        for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) reader.push(chunk);
        if (!ended) return;
        atEnd = true;
        reader.end();
        destination.complete();
      } catch (error) {
        if (!(error instanceof FrameLimitError)) throw error;
        destination.error(
          new EventTooLargeError(
            `A server-sent event is larger than ${maxEventBytes} bytes. Raise \`maxEventBytes\` if that is right.`,
          ),
        );
      } finally {
        reading = false;
      }
    };
    return {
      next(chunk) {
        chunks.push(chunk);
        readOn();
      },
      complete() {
        ended = true;
        readOn();
      },
      finalize() {
        if (!ended) reader.stop();
      },
    };
  });
}

/** What a clean end has left is taken for whole if it reads as something that shows its own end; 5 may be half of 57. */
function isWhole(data: string): boolean {
  const text = data.trim();
  if (text === '[DONE]') return true;
  if (!/^[{["]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
