/** One call of a client-side tool, as far as it is known. Plain frozen data. */
export interface ToolCall {
  /** Names the call within its answer from its first appearance on, whatever ids come later. */
  readonly key: string;
  /**
   * What the tool's result must refer to: the wire's id (`call_id` on Responses). Empty until it comes; where none came,
   * made up when the call is complete.
   */
  readonly id: string;
  readonly name: string;
  /** The raw text of the arguments so far; of a custom tool, its input as it stands. */
  readonly arguments: string;
  /**
   * The parsed arguments: set once, when the call is complete and its text is JSON (`{}` where it is empty); with
   * `partialInput`, as far as they go. Of a custom tool, the text.
   */
  readonly input: unknown;
  /** The whole call has been received. */
  readonly complete: boolean;
  /** The call is complete and its text can be used as it stands. */
  readonly valid: boolean;
  /** The choice that the call belongs to; 0 but for chat requests with `n` above 1. */
  readonly choice: number;
}
