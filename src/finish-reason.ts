import type { OpenWord } from './endpoints/open.js';

/** Why an answer ended, in one vocabulary for every endpoint. */
export interface FinishReason {
  /**
   * - `'stop'`: the model was done, or met a stop sequence.
   * - `'length'`: a token limit cut the answer.
   * - `'tool_calls'`: calls of client-side tools are to be answered, also where the wire says no more than `stop`.
   * - `'content_filter'`: a filter cut the answer, or the model refused.
   * - `'error'`: the answer failed.
   * - `'pause'`: send the answer back to have it continued.
   * - `'other'`: a word that this version does not know; see `raw`.
   */
  readonly reason: 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error' | 'pause' | 'other';
  /** The wire's own word; on Responses the reason of an incomplete answer, else its status. */
  readonly raw: OpenWord<'stop' | 'length' | 'tool_calls' | 'content_filter' | 'end_turn' | 'tool_use' | 'completed'>;
}

const WORDS: Readonly<Record<Exclude<FinishReason['reason'], 'other'>, string>> = {
  stop: 'stop end_turn stop_sequence completed complete eos eos_token',
  length: 'length max_tokens max_output_tokens model_length model_context_window_exceeded',
  tool_calls: 'tool_calls tool_call function_call tool_use',
  content_filter: 'content_filter refusal safety recitation blocklist prohibited_content spii',
  error: 'error failed insufficient_system_resource',
  pause: 'pause_turn compaction',
};

/** The word of the wire (a proxy may leak its upstream's, in capitals) as a reason; `called` if the answer calls client-side tools. */
export function finishReasonOf(raw: string, called = false): FinishReason {
  const word = raw.toLowerCase();
  const [known] = Object.entries(WORDS).find(([, words]) => words.split(' ').includes(word)) ?? ['other'];
  return { reason: (known === 'stop' && called ? 'tool_calls' : known) as FinishReason['reason'], raw };
}

/** Whether what the answer said last may be cut, after such a word of the wire. */
export function isCut(raw: string): boolean {
  return /^(length|content_filter|error)$/.test(finishReasonOf(raw).reason);
}
