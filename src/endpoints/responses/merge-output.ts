import { fields, text, type Fields } from '../fields.js';
import { isEmpty, overlay } from '../snapshot.js';
import { ItemFold } from './item-fold.js';

/**
 * The items that streamed and those that the response lists in the end, in the order of the response. Either may leave
 * items out, or say less of one: of each, the richer counts.
 */
export function mergeOutput(
  streamed: readonly ItemFold[],
  listed: readonly unknown[],
  isCompleted: boolean,
): ItemFold[] {
  const items = listed.map(fields).filter(({ type }) => text(type) !== '');
  const matches = match(streamed, items);
  const left = new Set(streamed);
  for (const fold of matches) if (fold) left.delete(fold);

  const output: ItemFold[] = [];
  const places = new Map(streamed.map((fold, place) => [fold, place]));
  let next = 0;
  const addLeft = (end: number): void => {
    for (; next < end; next++) {
      const fold = streamed[next];
      if (fold && left.has(fold)) output.push(fold);
    }
  };
  items.forEach((item, i) => {
    const fold = matches[i];
    if (fold) {
      addLeft(places.get(fold) ?? 0);
      enrich(fold, item);
    }
    output.push(fold ?? new ItemFold(undefined, item));
  });
  addLeft(streamed.length);

  for (const fold of output) {
    fold.showLogprobs();
    // Of an item that was never closed, the end of the response says that it is whole.
    if (isCompleted && fold.item.status === 'in_progress') fold.set('status', 'completed');
  }
  return output;
}

/** For each listed item the streamed one: by id, by what a call is answered by, else the next of its type. */
function match(streamed: readonly ItemFold[], items: readonly Fields[]): readonly (ItemFold | undefined)[] {
  const left = new Set(streamed);
  const take = (fold: ItemFold | undefined): ItemFold | undefined => (fold && left.delete(fold) ? fold : undefined);
  const byName = new Map<unknown, ItemFold>();
  for (const fold of streamed) {
    for (const name of [fold.item.id, fold.item.call_id]) if (text(name) !== '') byName.set(name, fold);
  }
  const named = items.map((item) => take(byName.get(item.id)) ?? take(byName.get(item.call_id)));

  // Some servers change ids on the way.
  const byType = new Map<unknown, ItemFold[]>();
  for (const fold of left) byType.set(fold.item.type, [...(byType.get(fold.item.type) ?? []), fold]);
  return items.map((item, i) => named[i] ?? byType.get(item.type)?.shift());
}

function enrich(fold: ItemFold, item: Fields): void {
  const streamed = fold.item;
  if (weightOf(item) >= weightOf(streamed)) return fold.overlay(item);
  const { id, status } = item;
  fold.overlay({ ...overlay(item, streamed), ...(isEmpty(id) ? {} : { id }), ...(isEmpty(status) ? {} : { status }) });
}

const NAMES = new Set(['id', 'status', 'type', 'call_id', 'encrypted_content']);
const DEEPEST = 40;

/** How much text a value holds, names aside. */
function weightOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return 0;
  let weight = 0;
  for (const [name, member] of Object.entries(value)) if (!NAMES.has(name)) weight += weightOf(member, depth + 1);
  return weight;
}
