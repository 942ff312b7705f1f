import type { ServerSentEvent } from './server-sent-event.js';

const LINE_END = /\r\n|\r|\n/;
const LINE_ENDS = /[\r\n]/g;

/**
 * The bytes of one event as text, its blank line included.
 *
 * What is encoded is read back the same, but for what the format cannot hold: a carriage return in the data comes back
 * as a newline, line ends in a name or an id are left out, and an id with a NUL is left out altogether.
 *
 * @example
 * ```ts
 * import { encodeServerSentEvent } from 'rx-llm';
 *
 * encodeServerSentEvent({ type: 'ping', data: '{"type":"ping"}' }); // 'event: ping\ndata: {"type":"ping"}\n\n'
 * ```
 */
export function encodeServerSentEvent(event: ServerSentEvent): string {
  const { comment, type, id, retry, data } = event;
  let frame = '';
  if (comment !== undefined) frame += lines(': ', comment);
  if (type) frame += `event: ${type.replace(LINE_ENDS, '')}\n`;
  if (id !== undefined && !id.includes('\0')) frame += `id: ${id.replace(LINE_ENDS, '')}\n`;
  // Readers take digits and nothing else.
  if (retry !== undefined && retry >= 0 && retry < Infinity) frame += `retry: ${Math.round(retry)}\n`;
  if (data !== undefined) frame += lines('data: ', data);
  return frame + '\n';
}

function lines(field: string, text: string): string {
  // Nearly all data is JSON on one line, some of it megabytes long: look before splitting.
  if (!text.includes('\n') && !text.includes('\r')) return `${field}${text}\n`;
  return text
    .split(LINE_END)
    .map((line) => `${field}${line}\n`)
    .join('');
}
