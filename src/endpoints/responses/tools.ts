import type { ReaderFactory } from '../../concepts/concept.js';
import type { ToolCallSink } from '../../concepts/tools.js';
import type { ToolCallDraft } from '../../tool-calls.js';
import { argumentsText, fields, list, nonblank, text, type Fields } from '../fields.js';
import type { ResponseStreamEvent } from './wire.js';

interface Item {
  readonly draft: ToolCallDraft;
  readonly id: string;
  /** Its own done event came. */
  closed: boolean;
  /** That event said that it was cut. */
  cut: boolean;
}

/** Reads `function_call` and `custom_tool_call` items; other kinds of calls are the service's own. */
export const responsesTools: ReaderFactory<ResponseStreamEvent, ToolCallSink> = (sink) => {
  if (sink.choice !== 0) return { next() {} };
  const items: Item[] = [];
  const byIndex = new Map<unknown, Item>();
  const byId = new Map<unknown, Item>();
  /** Indexes and ids of items of other kinds, whose arguments are nobody's business here. */
  const others = new Set<unknown>();

  const find = (index: unknown, id: unknown): Item | undefined => byIndex.get(index) ?? byId.get(id);

  const begin = (index: unknown, id: unknown): Item => {
    const item: Item = { draft: sink.drafts.add(), id: nonblank(id), closed: false, cut: false };
    items.push(item);
    if (index != null) byIndex.set(index, item);
    if (item.id !== '') byId.set(item.id, item);
    return item;
  };

  /** The item that a piece belongs to; one that says neither index nor id continues the last. */
  const itemOf = (event: { readonly output_index?: number; readonly item_id?: string }): Item | undefined => {
    const { output_index: index, item_id: id } = event;
    const item = find(index, id) ?? (index == null && id == null ? items.at(-1) : undefined);
    return item ?? (others.has(index) || others.has(id) ? undefined : begin(index, id));
  };

  /** Takes what an item says of itself; what it leaves out stays. */
  const describe = ({ draft }: Item, source: Fields): void => {
    const callId = nonblank(source.call_id);
    const name = nonblank(source.name);
    if (callId !== '') draft.set('id', callId);
    if (name !== '') draft.set('name', name);
    if (source.type === 'custom_tool_call') draft.set('custom', true);
    draft.replace(argumentsText(draft.custom ? source.input : source.arguments));
  };

  const complete = ({ draft }: Item, anyway: boolean): void => {
    if (draft.complete || draft.name === '') return;
    if (anyway) draft.completeAnyway();
    else if (!draft.completeIfValid()) return;
    sink.completed(draft);
  };

  /** Under new ids it is still the same item, unless that one `isOver`. */
  const itemAt = (index: unknown, source: Fields, isOver: (item: Item) => boolean): Item => {
    const item = find(index, source.id) ?? sameCall(items, source);
    const callId = nonblank(source.call_id);
    if (item !== undefined && !(isOver(item) && callId !== '' && callId !== item.draft.id)) return item;
    return begin(index, source.id);
  };

  const added = (index: unknown, source: Fields): void => {
    if (isCall(source)) {
      describe(itemAt(index, source, isComplete), source);
    } else if (nonblank(source.type) !== '') {
      byIndex.delete(index);
      for (const key of [index, source.id]) if (key != null) others.add(key);
    }
  };

  const done = (item: Item, source: Fields): void => {
    describe(item, source);
    if (item.draft.id === '') item.draft.set('id', nonblank(source.id));
    item.closed = true;
    item.cut = source.status === 'incomplete';
    if (source.status === 'completed') complete(item, true);
  };

  const finish = (response: Fields, type: string): void => {
    const status = nonblank(response.status) || type.slice('response.'.length);
    const unmatched = new Set(items);
    list(response.output).forEach((value, index) => {
      const source = fields(value);
      if (!isCall(source)) return;
      const known = findFinal(unmatched, byIndex.get(index), source);
      if (known !== undefined) unmatched.delete(known);
      if (!known?.draft.complete) done(known ?? begin(undefined, source.id), source);
    });
    for (const item of items) {
      if (item.cut) continue;
      if (status === 'completed' || status === 'done') complete(item, true);
      else if (status === 'incomplete' && item.draft.hasJsonText()) complete(item, false);
    }
  };

  const read = (event: ResponseStreamEvent): void => {
    switch (event.type) {
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta': {
        const item = itemOf(event);
        if (item === undefined || item.draft.complete) return;
        if (event.type === 'response.custom_tool_call_input.delta') item.draft.set('custom', true);
        item.draft.append(text(event.delta));
        return;
      }
      case 'response.function_call_arguments.done':
      case 'response.custom_tool_call_input.done': {
        const item = itemOf(event);
        if (item === undefined || item.draft.complete) return;
        const { name, arguments: full, input } = fields(event);
        const isCustom = event.type === 'response.custom_tool_call_input.done';
        describe(item, { name, arguments: full, input, type: isCustom ? 'custom_tool_call' : 'function_call' });
        if (item.draft.id === '') return;
        complete(item, false);
        return;
      }
      case 'response.output_item.added':
        added(event.output_index, fields(event.item));
        return;
      case 'response.output_item.done': {
        const source = fields(event.item);
        if (!isCall(source)) return;
        const item = itemAt(event.output_index, source, isClosed);
        done(item, source);
        // Text that is not JSON may have been cut; the end of the response tells, if the item does not.
        if (!item.cut) complete(item, false);
        return;
      }
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.done':
        finish(fields(event.response), event.type);
        return;
    }
  };

  return {
    next(event) {
      read(event);
      if (sink.drafts.dirty) sink.changed();
    },
  };
};

const isClosed = (item: Item): boolean => item.closed;
const isComplete = (item: Item): boolean => item.closed || item.draft.complete;

const isCall = (item: Fields): boolean => item.type === 'function_call' || item.type === 'custom_tool_call';

const sameCall = (items: Iterable<Item>, source: Fields): Item | undefined => {
  const callId = nonblank(source.call_id);
  if (callId !== '') for (const item of items) if (item.draft.id === callId) return item;
  return undefined;
};

/** The streamed item that an item of the final response repeats. Places do not tell: some servers leave items out. */
function findFinal(unmatched: ReadonlySet<Item>, atIndex: Item | undefined, source: Fields): Item | undefined {
  const same = sameCall(unmatched, source);
  if (same !== undefined) return same;
  const id = nonblank(source.id);
  if (id !== '') for (const item of unmatched) if (item.id === id) return item;
  if (atIndex !== undefined && unmatched.has(atIndex) && !atIndex.draft.complete) return atIndex;
  const full = argumentsText(source.type === 'custom_tool_call' ? source.input : source.arguments);
  for (const item of unmatched) if (item.draft.name === source.name && item.draft.text === full) return item;
  return undefined;
}
