import { fields, list, text, type Fields } from '../fields.js';
import { overlay, put, putAt } from '../snapshot.js';
import type { ItemFold } from './item-fold.js';

/** Fields that grow, by the middle of the event's type; the `.done` event holds the whole under the same name. */
const GROWING: Readonly<Record<string, readonly [type: string, field: string]>> = {
  function_call_arguments: ['function_call', 'arguments'],
  mcp_call_arguments: ['mcp_call', 'arguments'],
  custom_tool_call_input: ['custom_tool_call', 'input'],
  code_interpreter_call_code: ['code_interpreter_call', 'code'],
};

/** Parts that grow, likewise: the type of their item, where that keeps them, and their own type. */
const PARTS: Readonly<Record<string, readonly [type: string, list: 'content' | 'summary', part: string]>> = {
  output_text: ['message', 'content', 'output_text'],
  refusal: ['message', 'content', 'refusal'],
  reasoning_text: ['reasoning', 'content', 'reasoning_text'],
  reasoning_content: ['reasoning', 'content', 'reasoning_text'],
  reasoning: ['reasoning', 'content', 'reasoning_text'],
  reasoning_summary_text: ['reasoning', 'summary', 'summary_text'],
  reasoning_summary: ['reasoning', 'summary', 'summary_text'],
};

/** Tools that the service runs itself and that tell how far they are. */
const STATUS = new Set([
  'code_interpreter_call',
  'file_search_call',
  'web_search_call',
  'image_generation_call',
  'mcp_call',
]);

const OTHERS: Readonly<Record<string, string>> = {
  shell_call_command: 'shell_call',
  shell_call_output_content: 'shell_call_output',
  apply_patch_call_operation_diff: 'apply_patch_call',
  reasoning_part: 'reasoning',
  reasoning_summary_part: 'reasoning',
};

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

const namesOf = (event: Fields): readonly string[] => text(event.type).split('.').slice(1);

/** The type of the item that an event speaks of; `undefined` if it speaks of none, or of what items do not hold. */
export function itemTypeOf(event: Fields): string | undefined {
  const [name = '', phase] = namesOf(event);
  // The image itself is in the done item alone.
  if (phase === 'partial_image') return undefined;
  if (name === 'content_part') return fields(event.part).type === 'reasoning_text' ? 'reasoning' : 'message';
  return own(GROWING, name)?.[0] ?? own(PARTS, name)?.[0] ?? own(OTHERS, name) ?? (STATUS.has(name) ? name : undefined);
}

export function applyToItem(fold: ItemFold, event: Fields): void {
  const [name = '', phase = ''] = namesOf(event);
  const growing = own(GROWING, name);
  if (growing) {
    if (phase === 'delta') return fold.append(growing[1], text(event.delta));
    fold.set(growing[1], event[growing[1]]);
    return fold.set('name', event.name);
  }
  const part = own(PARTS, name);
  if (part) return applyToPart(fold, event, name, part[1], part[2]);
  if (STATUS.has(name)) return fold.setStatus(phase);
  switch (name) {
    case 'content_part':
    case 'reasoning_part':
    case 'reasoning_summary_part': {
      const where = name === 'reasoning_summary_part' ? 'summary' : 'content';
      const index = where === 'summary' ? event.summary_index : event.content_index;
      if (phase === 'added') fold.openPart(where, index, event.part);
      else if (text(fields(event.part).type) !== '') fold.closePart(where, index, fields(event.part));
      return;
    }
    case 'shell_call_command':
      return applyToCommand(fold, event, phase);
    case 'shell_call_output_content':
      return applyToOutput(fold, event, phase);
    case 'apply_patch_call_operation_diff': {
      const operation = fields(fold.item.operation);
      if (phase === 'delta') fold.set('operation', put(operation, 'diff', text(operation.diff) + text(event.delta)));
      else fold.set('operation', overlay(operation, { diff: event.diff }));
    }
  }
}

function applyToPart(fold: ItemFold, event: Fields, name: string, where: 'content' | 'summary', type: string): void {
  const index = where === 'summary' ? event.summary_index : event.content_index;
  const field = type === 'refusal' ? 'refusal' : 'text';
  const [, , phase] = text(event.type).split('.');
  if (phase === 'annotation') return fold.annotate(index, event.annotation_index, event.annotation);
  if (fold.item.type === 'reasoning') {
    // The same words under several names count once.
    const channels = fold.channels;
    channels[where] ??= name;
    if (channels[where] !== name) return;
  }
  if (phase === 'delta') {
    const { delta } = event;
    fold.appendToPart(where, index, type, field, text(delta) || text(fields(delta).text));
    return fold.addLogprobs(index, list(event.logprobs));
  }
  const whole = text(event[field]);
  if (whole !== '') fold.closePart(where, index, { type, [field]: whole, logprobs: event.logprobs });
}

/** Commands are found by their number; there is no part that would hold them. */
function applyToCommand(fold: ItemFold, event: Fields, phase: string): void {
  const { command_index: index, command, delta } = event;
  if (typeof index !== 'number' || fold.done) return;
  const action = fields(fold.item.action);
  const commands = list(action.commands);
  if (index < 0 || index > commands.length) return;
  const after = phase === 'delta' ? text(commands[index]) + text(delta) : text(command) || text(commands[index]);
  fold.set('action', put(action, 'commands', putAt(commands, index, after)));
}

function applyToOutput(fold: ItemFold, event: Fields, phase: string): void {
  const { command_index: index, output, delta } = event;
  if (fold.done) return;
  if (phase === 'done') return fold.set('output', overlay(fold.item.output, output));
  const outputs = list(fold.item.output);
  if (typeof index !== 'number' || index < 0 || index > outputs.length) return;
  const before = fields(outputs[index]);
  const { stdout, stderr } = fields(delta);
  const after = { ...before, stdout: text(before.stdout) + text(stdout), stderr: text(before.stderr) + text(stderr) };
  fold.set('output', putAt(outputs, index, after));
}
