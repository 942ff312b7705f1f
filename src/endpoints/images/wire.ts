import type { EachType, OpenWord, WithExtras } from '../open.js';

/** What `/images` takes. `stream: true` is set by the library. */
export interface ImageParams {
  readonly prompt: string;
  readonly model?: string | null;
  readonly stream?: boolean | null;
  readonly n?: number | null;
  /** How many partial images to show on the way, 0 to 3; fewer may come. */
  readonly partial_images?: number | null;
  readonly size?: string | null;
  readonly quality?: string | null;
  readonly background?: string | null;
  readonly output_format?: string | null;
  readonly output_compression?: number | null;
  readonly moderation?: string | null;
  readonly style?: string | null;
  readonly response_format?: string | null;
  readonly user?: string;
}

/** What `/images` takes, a gateway's own fields included. */
export type ImageRequest = WithExtras<ImageParams>;

/** One event of a streamed image; narrows on `type`. */
export type ImageStreamEvent = ImagePartialEvent | ImageCompletedEvent | ImageTextChunkEvent | ImageErrorEvent;

export interface ImageAttributes {
  /** Seconds since 1970. */
  readonly created_at?: number;
  readonly size?: string;
  readonly quality?: OpenWord<'low' | 'medium' | 'high' | 'auto'>;
  readonly background?: OpenWord<'transparent' | 'opaque' | 'auto'>;
  readonly output_format?: OpenWord<'png' | 'webp' | 'jpeg'>;
}

/** A rough version of the image, on the way to the final one. */
export type ImagePartialEvent = EachType<
  'image_generation.partial_image' | 'image_edit.partial_image',
  ImageAttributes & {
    readonly b64_json: string;
    /** Counts from 0. */
    readonly partial_image_index: number;
  }
>;

/** The final image. */
export type ImageCompletedEvent = EachType<
  'image_generation.completed' | 'image_edit.completed',
  ImageAttributes & {
    /** Absent where the gateway sends `url`. */
    readonly b64_json?: string;
    readonly url?: string;
    readonly created?: number;
    readonly media_type?: string;
    readonly revised_prompt?: string;
    readonly usage?: ImageUsage | null;
    readonly safety_identifier?: string;
  }
>;

/** Words that come with an image (OpenRouter). */
export interface ImageTextChunkEvent {
  readonly type: 'image_generation.text_chunk';
  readonly phase?: OpenWord<'content' | 'reasoning' | 'draft'>;
  readonly text: string;
}

/** A failure, nested or flat. The client raises it as an error. */
export interface ImageErrorEvent {
  readonly type: 'error';
  readonly error?: ImageErrorBody | null;
  readonly code?: string | number | null;
  readonly message?: string | null;
  readonly param?: string | null;
}

export interface ImageErrorBody {
  readonly message?: string;
  readonly code?: string | number | null;
  readonly type?: string | null;
  readonly param?: string | null;
}

/** Token counts as they stand on the wire: OpenAI's names, or those of chat. */
export interface ImageUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly total_tokens?: number | null;
  readonly input_tokens_details?: { readonly text_tokens?: number; readonly image_tokens?: number } | null;
  readonly output_tokens_details?: { readonly text_tokens?: number; readonly image_tokens?: number } | null;
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly prompt_tokens_details?: object | null;
  readonly completion_tokens_details?: object | null;
  /** US dollars. */
  readonly cost?: number | null;
  readonly cost_details?: object | null;
}

/** What `/images` returns when it does not stream; built up from events by `accumulateMessage()`. */
export interface ImagesResult {
  /** Seconds since 1970. */
  readonly created?: number;
  readonly data: readonly ImageResult[];
  readonly size?: string;
  readonly quality?: string;
  readonly background?: string;
  readonly output_format?: string;
  readonly usage?: ImageUsage;
}

export interface ImageResult {
  readonly b64_json?: string;
  readonly url?: string;
  readonly media_type?: string;
  readonly revised_prompt?: string;
}
