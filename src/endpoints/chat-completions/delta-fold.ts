import { Base64Text } from '../base64.js';
import { fields, list, text, type Fields } from '../fields.js';
import { isEmpty, joinText, overlay, put, putAt } from '../snapshot.js';
import type { ChatCompletionMessage } from './completion.js';

/** Lays deltas over a message. Text grows, lists are continued, and of everything else the last word counts. */
export class DeltaFold {
  readonly #audio = new Base64Text();

  next(message: ChatCompletionMessage, delta: Fields): ChatCompletionMessage {
    let result = message;
    for (const name of Object.keys(delta)) {
      const piece = delta[name];
      if (isEmpty(piece) || name === '__proto__') continue;
      const before = Object.hasOwn(result, name) ? fields(result)[name] : undefined;
      result = put(result, name, this.#join(name, before, piece));
    }
    return result;
  }

  #join(name: string, before: unknown, piece: unknown): unknown {
    switch (name) {
      case 'role':
        return text(piece) || before;
      case 'content':
        return joinContent(before, piece);
      case 'refusal':
        // Some servers say `false`.
        return typeof piece === 'string' ? text(before) + piece : (before ?? null);
      case 'reasoning_details':
        return list(piece).reduce(joinDetail, list(before));
      case 'executed_tools':
        return list(piece).reduce(joinByIndex, list(before));
      case 'function_call':
        return joinFunctionCall(fields(before), fields(piece));
      case 'audio':
        return this.#joinAudio(fields(before), fields(piece));
      default:
        if (typeof piece === 'string') return joinText(text(before), piece);
        if (Array.isArray(piece)) return [...list(before), ...list(piece)];
        return overlay(before, piece);
    }
  }

  #joinAudio(before: Fields, piece: Fields): object {
    const { data, transcript, ...rest } = piece;
    let audio: Fields = overlay(before, rest);
    if (text(data) !== '') audio = { ...audio, data: this.#audio.append(text(data)) };
    if (text(transcript) !== '') audio = put(audio, 'transcript', text(before.transcript) + text(transcript));
    return audio;
  }
}

/** Text stays text until a part of another kind comes (Mistral); from then on all of it is parts. */
function joinContent(before: unknown, piece: unknown): unknown {
  const pieces = typeof piece === 'string' ? [{ type: 'text', text: piece }] : list(piece);
  let content = before;
  for (const item of pieces) {
    const part = fields(item);
    if (part.type === 'text' && !Array.isArray(content)) {
      if (text(part.text) !== '') content = joinText(text(content), text(part.text));
    } else {
      content = joinPart(typeof content === 'string' ? [{ type: 'text', text: content }] : list(content), part);
    }
  }
  return content ?? null;
}

/** Parts of text and thinking are continued by the next of their kind. */
function joinPart(parts: readonly unknown[], part: Fields): readonly unknown[] {
  const last = fields(parts.at(-1));
  if (part.type === last.type && part.type === 'text') {
    return putAt(parts, parts.length - 1, put(last, 'text', joinText(text(last.text), text(part.text))));
  }
  if (part.type === last.type && part.type === 'thinking') {
    const { type: _, thinking, ...rest } = part;
    const joined = joinContent(last.thinking, thinking);
    return putAt(parts, parts.length - 1, overlay(put(last, 'thinking', joined), rest));
  }
  return [...parts, part];
}

const GROWING = ['text', 'summary', 'data'];

/**
 * Pieces of one detail have the same type and index; its signature commonly comes in a last piece without text. One
 * without an index continues the detail before it, if that has none either, and no signature yet.
 */
function joinDetail(details: readonly unknown[], item: unknown): readonly unknown[] {
  const piece = fields(item);
  let place = details.length - 1;
  if (piece.index == null) {
    const last = fields(details[place]);
    if (last.type !== piece.type || last.index != null || text(last.signature) !== '') place = -1;
  } else {
    while (place >= 0 && !isSameDetail(fields(details[place]), piece)) place--;
  }
  if (place === -1) return [...details, piece];
  let detail = fields(details[place]);
  for (const [name, value] of Object.entries(piece)) {
    if (isEmpty(value) || name === '__proto__') continue;
    if (GROWING.includes(name)) detail = put(detail, name, joinText(text(detail[name]), text(value)));
    else if (name === 'signature' || detail[name] == null) detail = put(detail, name, value);
  }
  return putAt(details, place, detail);
}

const isSameDetail = (detail: Fields, piece: Fields): boolean =>
  detail.type === piece.type && detail.index === piece.index;

/** Tools that the service runs (Groq): announced, then given once more with their output. */
function joinByIndex(tools: readonly unknown[], item: unknown): readonly unknown[] {
  const index = fields(item).index;
  const place = index == null ? -1 : tools.findIndex((tool) => fields(tool).index === index);
  return place === -1 ? [...tools, item] : putAt(tools, place, overlay(tools[place], item));
}

function joinFunctionCall(before: Fields, piece: Fields): object {
  return {
    ...overlay(before, { ...piece, name: text(before.name) || piece.name, arguments: undefined }),
    arguments: text(before.arguments) + text(piece.arguments),
  };
}
