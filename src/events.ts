import type { ChatCompletionChunk, ChatCompletionRequest } from './endpoints/chat-completions/wire.js';
import type { ImageRequest, ImageStreamEvent } from './endpoints/images/wire.js';
import type { MessageRequest, MessageStreamEvent } from './endpoints/messages/wire.js';
import type { ResponseRequest, ResponseStreamEvent } from './endpoints/responses/wire.js';

/** The events of each endpoint; the keys are the names of the client's methods. */
export interface EventsOf {
  chatCompletions: ChatCompletionChunk;
  responses: ResponseStreamEvent;
  messages: MessageStreamEvent;
  images: ImageStreamEvent;
}

/** The request that each endpoint takes. */
export interface RequestsOf {
  chatCompletions: ChatCompletionRequest;
  responses: ResponseRequest;
  messages: MessageRequest;
  images: ImageRequest;
}

export type EndpointName = keyof EventsOf;

/**
 * The shapes that operators accept. They hold no more than what tells the endpoints apart, so that this library's own
 * events and those of the vendors' SDKs fit alike; an index signature here would turn interfaces away.
 */
export type ChatLike = { readonly choices?: readonly object[] | null; readonly type?: undefined };
export type ResponsesLike = { readonly type: `response.${string}` | 'keepalive' | 'error' };
export type MessagesLike = { readonly type: `message_${string}` | `content_block_${string}` | 'ping' | 'error' };
export type ImagesLike = { readonly type: `image_${string}` | 'error' };

/** Which endpoint an event belongs to, by its shape; `undefined` where the shape does not say. */
export function endpointOf(event: { readonly type?: unknown }): EndpointName | undefined {
  const type = event.type;
  if (typeof type !== 'string') return 'chatCompletions';
  if (type.startsWith('response.') || type === 'keepalive') return 'responses';
  if (type.startsWith('content_block_') || type.startsWith('message_') || type === 'ping') return 'messages';
  if (type.startsWith('image_')) return 'images';
  return 'choices' in event ? 'chatCompletions' : undefined;
}

/** An event that only keeps the connection open. */
export function isKeepalive({ type }: { readonly type?: unknown }): boolean {
  return type === 'ping' || type === 'keepalive';
}
