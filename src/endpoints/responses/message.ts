import type { ReaderFactory } from '../../concepts/concept.js';
import type { MessageSink } from '../../concepts/message.js';
import { fields, list, text, type Fields } from '../fields.js';
import { insert, keepList, overlay, put, putAt } from '../snapshot.js';
import { applyToItem, itemTypeOf } from './item-events.js';
import { ItemFold } from './item-fold.js';
import type { ResponseOutputItem } from './items.js';
import { mergeOutput } from './merge-output.js';
import type { ResponseObject } from './response.js';
import type { ResponseStreamEvent } from './wire.js';

const BEGINS = new Set<unknown>(['response.created', 'response.queued', 'response.in_progress']);
const ENDS = new Set<unknown>(['response.completed', 'response.incomplete', 'response.failed', 'response.done']);

const EMPTY: ResponseObject = { object: 'response', output: [] };

export const responsesMessage: ReaderFactory<ResponseStreamEvent, MessageSink> = (sink) => {
  let response = EMPTY;
  let shown = EMPTY;
  /** In the order of the output. */
  let items: ItemFold[] = [];
  const byId = new Map<string, ItemFold>();
  const byIndex = new Map<number, ItemFold[]>();

  /** The item of that type that the event speaks of. Ids may change from event to event, and indexes be used twice. */
  function find({ output_index, item_id }: Fields, type: string): ItemFold | undefined {
    const byName = byId.get(text(item_id));
    if (byName?.item.type === type) return byName;
    const isPlaced = typeof output_index === 'number';
    const places = isPlaced ? byIndex.get(output_index) : item_id == null ? items : undefined;
    return last(places ?? [], ({ item }) => item.type === type);
  }

  function name(fold: ItemFold, id: unknown): void {
    if (text(id) !== '') byId.set(text(id), fold);
  }

  function add(index: unknown, item: Fields): ItemFold {
    const wireIndex = typeof index === 'number' ? index : undefined;
    const fold = new ItemFold(wireIndex, item);
    const before = last(items, (other) => wireIndex === undefined || (other.index ?? -1) <= wireIndex);
    const place = before ? items.lastIndexOf(before) + 1 : 0;
    items.splice(place, 0, fold);
    name(fold, item.id);
    if (wireIndex !== undefined) {
      const places = byIndex.get(wireIndex);
      if (places) places.push(fold);
      else byIndex.set(wireIndex, [fold]);
    }
    response = put(response, 'output', insert(response.output, place, item as Fields & ResponseOutputItem));
    return fold;
  }

  /** An item is opened or closed. One that is over is not spoken of again: under its index it is another. */
  function readItem(event: Fields, isDone: boolean): void {
    const item = fields(event.item);
    const type = text(item.type);
    if (type === '') return;
    const known = find({ ...event, item_id: item.id }, type);
    const isOther = known?.done && item.id !== known.item.id;
    const fold = known && !isOther ? known : add(event.output_index, item);
    name(fold, item.id);
    if (isDone) fold.close(item);
    else if (!fold.done) fold.overlay(item);
    show(fold);
  }

  function readWhole(event: Fields): void {
    const { output, ...rest } = fields(event.response);
    response = overlay(response, rest);
    // Until the end, what streamed is newer than what a status event repeats of it.
    if (items.length > 0 && !ENDS.has(event.type)) return;
    items = mergeOutput(items, list(output), event.type === 'response.completed');
    for (const fold of items) name(fold, fold.item.id);
    const after = items.map(({ item }) => item as Fields & ResponseOutputItem);
    response = put(response, 'output', keepList(response.output, after));
  }

  function show(fold: ItemFold): void {
    const place = items.lastIndexOf(fold);
    response = put(response, 'output', putAt(response.output, place, fold.item as Fields & ResponseOutputItem));
  }

  function readPiece(event: Fields): void {
    const type = itemTypeOf(event);
    if (type === undefined) return;
    const fold = find(event, type) ?? add(event.output_index, begun(type, event));
    applyToItem(fold, event);
    show(fold);
  }

  return {
    next(wire) {
      const event = fields(wire);
      if (event.type === 'response.output_item.added') readItem(event, false);
      else if (event.type === 'response.output_item.done') readItem(event, true);
      else if (event.response && (BEGINS.has(event.type) || ENDS.has(event.type))) readWhole(event);
      else readPiece(event);
      if (response === shown) return;
      shown = response;
      sink.snapshot(response);
    },
    end() {
      for (const fold of items) {
        fold.showLogprobs();
        show(fold);
      }
      if (response !== shown) sink.snapshot((shown = response));
    },
  };
};

function last<T>(values: readonly T[], matches: (value: T) => boolean): T | undefined {
  for (let i = values.length - 1; i >= 0; i--) if (matches(values[i] as T)) return values[i];
  return undefined;
}

/** What can be said of an item that was never announced. */
function begun(type: string, { item_id }: Fields): Fields {
  const item = text(item_id) === '' ? { type } : { id: item_id, type };
  switch (type) {
    case 'message':
      return { ...item, role: 'assistant', status: 'in_progress', content: [] };
    case 'reasoning':
      return { ...item, summary: [] };
    case 'function_call':
      return { ...item, status: 'in_progress', call_id: '', name: '', arguments: '' };
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', call_id: '', name: '', input: '' };
    default:
      return { ...item, status: 'in_progress' };
  }
}
