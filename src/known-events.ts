import { endpointOf, type EventsOf } from './events.js';

/** An event of any endpoint that this library has a type for. */
export type KnownEvent = EventsOf[keyof EventsOf];

/** An event of a type that this library does not know: something new, or a gateway's own. */
export interface UnknownEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

type KnownType = Exclude<KnownEvent['type'], undefined>;

// A record and not a list, so that the compiler finds the type that is missing here or in the unions.
const knownTypes: Readonly<Record<KnownType, 1>> = {
  error: 1,
  keepalive: 1,
  'response.created': 1,
  'response.queued': 1,
  'response.in_progress': 1,
  'response.completed': 1,
  'response.incomplete': 1,
  'response.failed': 1,
  'response.done': 1,
  'response.output_item.added': 1,
  'response.output_item.done': 1,
  'response.content_part.added': 1,
  'response.content_part.done': 1,
  'response.output_text.delta': 1,
  'response.output_text.done': 1,
  'response.output_text.annotation.added': 1,
  'response.refusal.delta': 1,
  'response.refusal.done': 1,
  'response.reasoning_text.delta': 1,
  'response.reasoning_text.done': 1,
  'response.reasoning_content.delta': 1,
  'response.reasoning_content.done': 1,
  'response.reasoning.delta': 1,
  'response.reasoning.done': 1,
  'response.reasoning_part.added': 1,
  'response.reasoning_part.done': 1,
  'response.reasoning_summary_part.added': 1,
  'response.reasoning_summary_part.done': 1,
  'response.reasoning_summary_text.delta': 1,
  'response.reasoning_summary_text.done': 1,
  'response.reasoning_summary.delta': 1,
  'response.reasoning_summary.done': 1,
  'response.function_call_arguments.delta': 1,
  'response.function_call_arguments.done': 1,
  'response.mcp_call_arguments.delta': 1,
  'response.mcp_call_arguments.done': 1,
  'response.custom_tool_call_input.delta': 1,
  'response.custom_tool_call_input.done': 1,
  'response.code_interpreter_call_code.delta': 1,
  'response.code_interpreter_call_code.done': 1,
  'response.code_interpreter_call.in_progress': 1,
  'response.code_interpreter_call.interpreting': 1,
  'response.code_interpreter_call.completed': 1,
  'response.file_search_call.in_progress': 1,
  'response.file_search_call.searching': 1,
  'response.file_search_call.completed': 1,
  'response.web_search_call.in_progress': 1,
  'response.web_search_call.searching': 1,
  'response.web_search_call.completed': 1,
  'response.image_generation_call.in_progress': 1,
  'response.image_generation_call.generating': 1,
  'response.image_generation_call.completed': 1,
  'response.image_generation_call.partial_image': 1,
  'response.mcp_call.in_progress': 1,
  'response.mcp_call.completed': 1,
  'response.mcp_call.failed': 1,
  'response.mcp_list_tools.in_progress': 1,
  'response.mcp_list_tools.completed': 1,
  'response.mcp_list_tools.failed': 1,
  'response.compaction.compacting': 1,
  'response.shell_call_command.added': 1,
  'response.shell_call_command.delta': 1,
  'response.shell_call_command.done': 1,
  'response.shell_call_output_content.delta': 1,
  'response.shell_call_output_content.done': 1,
  'response.apply_patch_call_operation_diff.delta': 1,
  'response.apply_patch_call_operation_diff.done': 1,
  'response.audio.delta': 1,
  'response.audio.done': 1,
  'response.audio.transcript.delta': 1,
  'response.audio.transcript.done': 1,
  'response.output_audio.delta': 1,
  'response.output_audio.done': 1,
  'response.output_audio_transcript.delta': 1,
  'response.output_audio_transcript.done': 1,
  'response.fusion_call.in_progress': 1,
  'response.fusion_call.completed': 1,
  'response.fusion_call.panel.added': 1,
  'response.fusion_call.panel.delta': 1,
  'response.fusion_call.panel.completed': 1,
  'response.fusion_call.panel.failed': 1,
  'response.fusion_call.panel.reasoning.delta': 1,
  'response.fusion_call.analysis.in_progress': 1,
  'response.fusion_call.analysis.completed': 1,
  'response.debug': 1,
  message_start: 1,
  content_block_start: 1,
  content_block_delta: 1,
  content_block_stop: 1,
  message_delta: 1,
  message_stop: 1,
  ping: 1,
  'image_generation.partial_image': 1,
  'image_generation.completed': 1,
  'image_generation.text_chunk': 1,
  'image_edit.partial_image': 1,
  'image_edit.completed': 1,
};

/**
 * Whether the event's type is one that the event unions hold. Chat chunks have no type, and are known.
 *
 * Event types are closed unions, because a member `{ type: string }` would keep them from narrowing. What a server
 * sends beyond them is passed on all the same, and this function tells the two apart. It looks at the type of the event
 * alone: a known event may still hold a block, an item or a delta of a new type.
 *
 * @example
 * ```ts
 * import { filter } from 'rxjs';
 * import { createLlmClient, isKnownEvent } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .responses({ model: 'm', input: 'Hi' })
 *   .pipe(filter((event) => isKnownEvent(event)))
 *   .subscribe((event) => console.log(event.type));
 * ```
 */
export function isKnownEvent(event: object): event is KnownEvent {
  const type = 'type' in event ? event.type : undefined;
  if (typeof type !== 'string') return true;
  return Object.hasOwn(knownTypes, type) || endpointOf(event) === 'chatCompletions';
}

/**
 * The same event, typed as one of a type that this library does not know, or `undefined` if it does know it.
 *
 * @example
 * ```ts
 * import { createLlmClient, asUnknownEvent } from 'rx-llm';
 *
 * createLlmClient({ baseUrl: 'https://gateway.example/v1' })
 *   .responses({ model: 'm', input: 'Hi' })
 *   .subscribe((event) => {
 *     const unknown = asUnknownEvent(event);
 *     if (unknown?.type === 'response.progress') console.log(unknown['percent']);
 *   });
 * ```
 */
export function asUnknownEvent(event: object): UnknownEvent | undefined {
  return isKnownEvent(event) ? undefined : (event as UnknownEvent);
}
