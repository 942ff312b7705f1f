import type { ReaderFactory } from '../../concepts/concept.js';
import type { MessageSink } from '../../concepts/message.js';
import { mergeUsage } from '../../usage.js';
import { fields, list, text, type Fields } from '../fields.js';
import { insert, isEmpty, joinText, overlay, put, putAt } from '../snapshot.js';
import type { ContentBlock, MessageObject } from './items.js';
import type { MessageStreamEvent } from './wire.js';

const EMPTY: MessageObject = { type: 'message', role: 'assistant', content: [], stop_reason: null };

/** A block of the content, found by the index that it has on the wire. */
interface Slot {
  readonly index: number;
  /** The pieces of the input so far. They are parsed once, when the block is over. */
  json: string;
  /** Its stop came: what begins under its index now is another block. */
  closed: boolean;
}

export const messagesMessage: ReaderFactory<MessageStreamEvent, MessageSink> = (sink) => {
  let message = EMPTY;
  /** In the order of the content: by wire index, which may leave numbers out. */
  let slots: Slot[] = [];
  /** Added to wire indexes, where they begin anew after the blocks that came with the start. */
  let shift = 0;
  let given = 0;
  let shown: MessageObject | undefined;

  function start(value: unknown): void {
    const started = fields(value);
    const content = list(started['content']);
    message = { ...EMPTY, ...started, content: [] };
    slots = [];
    shift = 0;
    given = 0;
    for (const block of content) open(given++, block);
  }

  function open(wireIndex: number, value: unknown): void {
    const block = complete(fields(value));
    // Blocks that came with the start are counted by the indexes that follow, unless the server begins at 0 again.
    if (wireIndex < given && shift === 0 && slots.length === given && !isSame(message.content[wireIndex], block)) {
      shift = given;
    }
    const index = wireIndex + shift;
    if (block.type === 'fallback') {
      const model = text(fields(block.to).model);
      if (model !== '') message = put(message, 'model', model);
    }
    const next = slots.findIndex((slot) => slot.index > index);
    const place = next === -1 ? slots.length : next;
    const before = slots[place - 1];
    if (before?.index === index && (!before.closed || isSame(message.content[place - 1], block))) {
      // The same block once more, with what it holds from the beginning.
      before.json = '';
      change(place - 1, block);
      return;
    }
    slots.splice(place, 0, { index, json: '', closed: false });
    message = put(message, 'content', insert(message.content, place, block));
  }

  function change(place: number, block: object): void {
    message = put(message, 'content', putAt(message.content, place, block as ContentBlock));
  }

  /** Where the block is that was opened last under an index; -1 if none was. */
  function placeOf(wireIndex: number): number {
    let place = slots.length - 1;
    while (place >= 0 && slots[place]?.index !== wireIndex + shift) place--;
    return place;
  }

  /** Where the block of an index is; a block that was never announced is opened, if its delta says what it is. */
  function find(index: unknown, type: string, empty: object): number {
    const last = slots.length - 1;
    if (typeof index !== 'number' && last >= 0) return last;
    const wanted = typeof index === 'number' ? index : 0;
    const place = placeOf(wanted);
    if (place !== -1 || type === '') return place;
    open(wanted, { type, ...empty });
    return placeOf(wanted);
  }

  function add(event: Fields): void {
    const delta = fields(event['delta']);
    switch (delta['type']) {
      case 'text_delta':
        return append(find(event['index'], 'text', { text: '', citations: null }), 'text', delta['text']);
      case 'thinking_delta':
        return append(find(event['index'], 'thinking', { thinking: '', signature: '' }), 'thinking', delta['thinking']);
      case 'input_json_delta': {
        const slot = slots[find(event['index'], '', {})];
        if (slot) slot.json += text(delta['partial_json']);
        return;
      }
      case 'signature_delta':
        return sign(find(event['index'], 'thinking', { thinking: '', signature: '' }), text(delta['signature']));
      case 'citations_delta': {
        const place = find(event['index'], 'text', { text: '', citations: null });
        if (isEmpty(delta['citation'])) return;
        const block = fields(message.content[place]);
        return change(place, { ...block, citations: [...list(block['citations']), delta['citation']] });
      }
      case 'compaction_delta': {
        // The whole value, of which null means that compacting failed.
        const place = find(event['index'], 'compaction', {});
        const { type: _, ...compaction } = delta;
        return change(place, { ...fields(message.content[place]), ...compaction });
      }
    }
  }

  function append(place: number, name: string, piece: unknown): void {
    if (text(piece) === '') return;
    const block = fields(message.content[place]);
    change(place, put(block, name, joinText(text(block[name]), text(piece))));
  }

  /** A signature comes whole, and once; some proxies send it in pieces, or repeat it. */
  function sign(place: number, signature: string): void {
    const block = fields(message.content[place]);
    const before = text(block['signature']);
    change(place, put(block, 'signature', signature.startsWith(before) ? signature : before + signature));
  }

  function close(place: number): void {
    const slot = slots[place];
    if (slot === undefined) return;
    slot.closed = true;
    const block = fields(message.content[place]);
    if (slot.json.trim() !== '') change(place, put(block, 'input', parsed(slot.json)));
    else if (text(block['type']).endsWith('tool_use') && block['input'] == null) change(place, put(block, 'input', {}));
    slot.json = '';
  }

  function finish(event: Fields): void {
    const { delta, usage, ...rest } = event;
    const known = { type: undefined, content: undefined, usage: undefined };
    message = overlay(message, { ...fields(delta), ...rest, ...known });
    if (isEmpty(usage)) return;
    message = put(message, 'usage', overlay(message.usage, mergeUsage({ ...message.usage }, fields(usage))));
  }

  function closeAll(): void {
    for (let place = 0; place < slots.length; place++) close(place);
  }

  function show(): void {
    if (message === shown || message === EMPTY) return;
    shown = message;
    sink.snapshot(message);
  }

  return {
    next(wire) {
      const event = fields(wire);
      switch (event['type']) {
        case 'message_start':
          start(event['message']);
          break;
        case 'content_block_start':
          open(typeof event['index'] === 'number' ? event['index'] : slots.length, event['content_block']);
          break;
        case 'content_block_delta':
          add(event);
          break;
        case 'content_block_stop':
          close(find(event['index'], '', {}));
          break;
        case 'message_delta':
          finish(event);
          break;
        case 'message_stop':
          closeAll();
          break;
      }
      show();
    },
    end() {
      closeAll();
      show();
    },
  };
};

/** Some servers leave out the text that is empty at the start. */
function complete(block: Fields): Fields & ContentBlock {
  const field = block.type === 'text' || block.type === 'thinking' ? block.type : undefined;
  return (field ? put(block, field, text(block[field])) : block) as Fields & ContentBlock;
}

/** The block that came with the start, announced once more. */
function isSame(given: ContentBlock | undefined, block: Fields): boolean {
  const { type, id } = fields(given);
  return type === block['type'] && id !== undefined && id === block['id'];
}

/** Text that is no JSON was cut, or never was any: it stays as it is, for anything else would look like an input. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
