import { type Observable } from 'rxjs';
import type {
  ChatCompletionChunk,
  ChatMessage,
  EndpointName,
  LlmClient,
  MessageStreamEvent,
  MessageTurn,
  RequestOptions,
  ResponseStreamEvent,
  ToolCall,
} from 'rx-llm';
import { WEATHER } from './tools';

/** A conversation in no endpoint's own words. */
export type Message =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly toolCalls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly call: ToolCall; readonly result: string };

export type TextEvent = ChatCompletionChunk | ResponseStreamEvent | MessageStreamEvent;

/** Asks one of the text endpoints. */
export function ask(
  llm: LlmClient,
  endpoint: Exclude<EndpointName, 'images'>,
  conversation: readonly Message[],
  thinking: boolean,
  options: RequestOptions,
): Observable<TextEvent> {
  switch (endpoint) {
    case 'chatCompletions':
      return llm.chatCompletions(
        {
          model: 'vendor/leaf-1',
          messages: conversation.map(toChat),
          ...(aboutWeather(conversation) && { tools: [{ type: 'function', function: WEATHER }] }),
          ...(thinking && { reasoning_effort: 'low' }),
        },
        options,
      );
    case 'responses':
      return llm.responses(
        {
          model: 'gpt-5.6-luna',
          input: conversation.flatMap(toResponses),
          ...(aboutWeather(conversation) && { tools: [{ type: 'function', ...WEATHER }] }),
          ...(thinking && { reasoning: { effort: 'low' } }),
        },
        options,
      );
    case 'messages':
      return llm.messages(
        {
          model: 'claude-opus-5-5',
          max_tokens: 32_000,
          messages: toMessages(conversation),
          ...(aboutWeather(conversation) && {
            tools: [{ name: WEATHER.name, description: WEATHER.description, input_schema: WEATHER.parameters }],
          }),
          ...(thinking && { thinking: { type: 'enabled', budget_tokens: 1024 } }),
        },
        options,
      );
  }
}

/** The gateway of this example calls whatever tool it is offered, so it is offered one where it makes sense. */
function aboutWeather(conversation: readonly Message[]): boolean {
  const question = conversation.findLast(({ role }) => role === 'user');
  return question !== undefined && 'text' in question && /weather|rain/i.test(question.text);
}

function toChat(message: Message): ChatMessage {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.text };
    case 'tool':
      return { role: 'tool', tool_call_id: message.call.id, content: message.result };
    case 'assistant':
      return {
        role: 'assistant',
        content: message.text || null,
        ...(message.toolCalls.length > 0 && {
          tool_calls: message.toolCalls.map(({ id, name, arguments: text }) => ({
            id,
            type: 'function',
            function: { name, arguments: text },
          })),
        }),
      };
  }
}

function toResponses(message: Message): object[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: message.text }];
    case 'tool':
      return [{ type: 'function_call_output', call_id: message.call.id, output: message.result }];
    case 'assistant':
      return [
        ...(message.text ? [{ role: 'assistant', content: message.text }] : []),
        ...message.toolCalls.map((call) => ({
          type: 'function_call',
          call_id: call.id,
          name: call.name,
          arguments: call.arguments,
        })),
      ];
  }
}

/** Results of calls are parts of a user's turn there, and turns of one role in a row become one. */
function toMessages(conversation: readonly Message[]): MessageTurn[] {
  const turns: { role: 'user' | 'assistant'; content: { type: string }[] }[] = [];
  for (const message of conversation) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    if (turns.at(-1)?.role !== role) turns.push({ role, content: [] });
    turns.at(-1)?.content.push(...partsOf(message));
  }
  return turns.filter(({ content }) => content.length > 0);
}

function partsOf(message: Message): { type: string }[] {
  const text = message.role !== 'tool' && message.text ? [{ type: 'text', text: message.text }] : [];
  if (message.role === 'user') return text;
  if (message.role === 'assistant') {
    return [...text, ...message.toolCalls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }))];
  }
  return [{ type: 'tool_result', tool_use_id: message.call.id, content: message.result } as { type: string }];
}
