import { responsesMessage } from '../../endpoints/responses/message.js';
import type { ResponseObject } from '../../endpoints/responses/response.js';

/** All snapshots of events that are given as they would stand on the wire. */
export function snapshots(...events: object[]): ResponseObject[] {
  const seen: ResponseObject[] = [];
  const reader = responsesMessage({ snapshot: (message) => seen.push(message as ResponseObject) });
  for (const event of events) reader.next(event as never);
  reader.end?.();
  return seen;
}

export const last = (...events: object[]): ResponseObject => snapshots(...events).at(-1) as ResponseObject;
export const outputOf = (...events: object[]): readonly unknown[] => last(...events).output;

export const event = (type: string, fields: object): object => ({ type: `response.${type}`, ...fields });
export const added = (output_index: number, item: object): object => event('output_item.added', { output_index, item });
export const done = (output_index: number, item: object): object => event('output_item.done', { output_index, item });
export const text = (delta: string, fields: object = {}): object =>
  event('output_text.delta', { output_index: 0, item_id: 'm', content_index: 0, delta, ...fields });
export const end = (type: string, response: object): object => event(type, { response: { status: type, ...response } });

export const message = (...words: string[]) => ({
  id: 'm',
  type: 'message',
  role: 'assistant',
  status: 'in_progress',
  content: words.map((word) => ({ type: 'output_text', text: word, annotations: [] })),
});
