import { isObject, list, object, own, string, type Json } from '../json.js';
import { bad, type Ask } from '../protocol.js';
import {
  contentSeed,
  inputTokens,
  NOTHING_ASKED,
  range,
  requireModel,
  requireStream,
  textOf,
  wholeNumber,
} from './asking.js';
import { chatToolChoice } from './chat-completions.js';

/** What earlier answers left behind: their items by id, and whole conversations by response id. */
export interface Memory {
  item(id: string): Json | undefined;
  conversation(responseId: string): readonly Json[] | undefined;
}

/** The conversation that a Responses request stands for, references resolved. */
export function conversationOf(body: Json, memory: Memory): Json[] {
  const input = own(body, 'input');
  const previous = own(body, 'previous_response_id');
  const before = typeof previous === 'string' ? memory.conversation(previous) : [];
  if (before === undefined) bad('previous_response_id', `No response with id '${String(previous)}' is stored here`);
  if (typeof input === 'string') return [...(before ?? []), { type: 'message', role: 'user', content: input }];
  if (!Array.isArray(input)) bad('input', "'input' must be a string or a list of items");
  const items = (input as unknown[]).map((entry, i) => {
    const item = isObject(entry) ? entry : bad(`input[${i}]`, `'input[${i}]' must be an object`);
    if (item['type'] !== 'item_reference') return item;
    return (
      memory.item(string(item['id'])) ?? bad(`input[${i}]`, `No item with id '${string(item['id'])}' is stored here`)
    );
  });
  if (items.length === 0 && (before ?? []).length === 0) bad('input', "'input' must not be empty");
  return [...(before ?? []), ...items];
}

/** Reads a Responses request, or refuses it as the gateways do. */
export function readResponses(body: Json, seed: string, memory: Memory): Ask {
  const model = requireModel(body);
  const stream = requireStream(body);
  const items = conversationOf(body, memory);
  const called = new Map<string, string>();
  let prompt = '';
  let turns = 0;
  let toolResults: { name: string; text: string }[] = [];
  items.forEach((item, i) => {
    const type = string(item['type']) || (item['role'] === undefined ? '' : 'message');
    if (type === '') bad(`input[${i}].type`, `'input[${i}]' needs a 'type' or a 'role'`);
    if (type === 'message') {
      const role = string(item['role']);
      if (!['user', 'assistant', 'system', 'developer'].includes(role)) {
        bad(`input[${i}].role`, `'input[${i}].role' must be one of user, assistant, system, developer`);
      }
      if (role === 'user') {
        prompt = textOf(item['content']);
        turns++;
        toolResults = [];
      }
    } else if (type === 'function_call' || type === 'custom_tool_call') {
      called.set(string(item['call_id']), string(item['name']));
    } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      const name = called.get(string(item['call_id']));
      if (name === undefined)
        bad(
          `input[${i}].call_id`,
          `No tool call found for function call output with call_id '${string(item['call_id'])}'`,
        );
      const output = item['output'];
      toolResults.push({
        name: name ?? '',
        text: typeof output === 'string' ? output : textOf(output) || JSON.stringify(output ?? null),
      });
    }
  });
  range(body, 'temperature', 0, 2);
  range(body, 'top_p', 0, 1);

  const specs = list(own(body, 'tools')).flatMap((tool, i) => {
    const { type, name, parameters } = object(tool);
    if (type !== 'function' && type !== 'custom') {
      if (typeof type === 'string' && type !== '') return []; // a tool that a server would run
      bad(`tools[${i}].type`, `'tools[${i}].type' is missing`);
    }
    if (!/^[\w.-]{1,128}$/.test(string(name)))
      bad(`tools[${i}].name`, `'tools[${i}]' needs a name of letters, digits, '_' and '-'`);
    return [{ name: string(name), custom: type === 'custom', schema: parameters }];
  });

  const reasoning = own(body, 'reasoning');
  const effort = string(object(reasoning)['effort']);
  return {
    ...NOTHING_ASKED,
    model,
    stream,
    prompt,
    inputTokens: inputTokens(items, own(body, 'instructions'), own(body, 'tools'), object(own(body, 'text'))['format']),
    tools: specs,
    toolChoice: chatToolChoice(
      own(body, 'tool_choice'),
      specs.map((spec) => spec.name),
    ),
    parallel: typeof body['parallel_tool_calls'] === 'boolean' ? body['parallel_tool_calls'] : undefined,
    turns,
    toolResults,
    effort: (effort !== '' && effort !== 'none') || object(reasoning)['summary'] ? effort || 'medium' : undefined,
    format: textFormat(object(own(body, 'text'))['format']),
    maxTokens: wholeNumber(body, 'max_output_tokens'),
    seed: contentSeed(body, seed),
  };
}

function textFormat(format: unknown): unknown {
  const { type, schema } = object(format);
  if (type === undefined || type === 'text') return undefined;
  if (type === 'json_object') return true;
  if (type !== 'json_schema')
    bad('text.format.type', "'text.format.type' must be 'text', 'json_object' or 'json_schema'");
  if (!isObject(schema)) bad('text.format.schema', "'text.format.schema' is missing");
  return schema;
}
