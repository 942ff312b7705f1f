/** One turn of the conversation that is sent. What each role may hold is for the server to say. */
export interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly ChatMessagePart[] | null;
  readonly name?: string;
  readonly refusal?: string | null;
  /** On an assistant's turn: the calls it made. */
  readonly tool_calls?: readonly object[] | null;
  /** On a tool's turn: the call that it answers. */
  readonly tool_call_id?: string;
  readonly reasoning_content?: string | null;
  readonly reasoning_details?: readonly object[] | null;
}

/** A part of a message: `text`, `image_url`, `input_audio`, `file` and what else a server takes. */
export interface ChatMessagePart {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: { readonly url: string; readonly detail?: string };
  readonly input_audio?: { readonly data: string; readonly format: string };
  readonly file?: object;
}

/** A tool that the model may call. */
export interface ChatTool {
  readonly type: string;
  readonly function?: {
    readonly name: string;
    readonly description?: string;
    /** JSON Schema. */
    readonly parameters?: object;
    readonly strict?: boolean | null;
  };
  readonly custom?: { readonly name: string; readonly description?: string; readonly format?: object };
}

export type ChatToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | {
      readonly type: string;
      readonly function?: { readonly name: string };
      readonly custom?: { readonly name: string };
    };
