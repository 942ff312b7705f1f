import { expectTypeOf } from 'expect-type';
import type OpenAI from 'openai';
import { of, type Observable } from 'rxjs';
import {
  fallbackBeforeFirstToken,
  retryBeforeFirstToken,
  streamTimeout,
  type ChatCompletionChunk,
  type MessageStreamEvent,
  type ResponseStreamEvent,
} from 'rx-llm';

declare const chat$: Observable<ChatCompletionChunk>;
declare const messages$: Observable<MessageStreamEvent>;
declare const responses$: Observable<ResponseStreamEvent>;
declare const sdk$: Observable<OpenAI.ChatCompletionChunk>;

/** Checked by the compiler alone. */
export function types(): void {
  expectTypeOf(chat$.pipe(retryBeforeFirstToken())).toEqualTypeOf<Observable<ChatCompletionChunk>>();
  expectTypeOf(sdk$.pipe(retryBeforeFirstToken({ count: 1 }))).toEqualTypeOf<Observable<OpenAI.ChatCompletionChunk>>();
  expectTypeOf(of('text').pipe(streamTimeout({ totalMs: 1 }))).toEqualTypeOf<Observable<string>>();

  expectTypeOf(chat$.pipe(fallbackBeforeFirstToken())).toEqualTypeOf<Observable<ChatCompletionChunk>>();
  expectTypeOf(chat$.pipe(fallbackBeforeFirstToken(chat$))).toEqualTypeOf<Observable<ChatCompletionChunk>>();
  expectTypeOf(chat$.pipe(fallbackBeforeFirstToken(messages$, () => responses$))).toEqualTypeOf<
    Observable<ChatCompletionChunk | MessageStreamEvent | ResponseStreamEvent>
  >();
  expectTypeOf(chat$.pipe(fallbackBeforeFirstToken((error) => Promise.resolve(String(error))))).toEqualTypeOf<
    Observable<ChatCompletionChunk | string>
  >();
  // @ts-expect-error -- neither a source nor a function that makes one
  fallbackBeforeFirstToken(7);
  // @ts-expect-error -- no such option
  retryBeforeFirstToken({ retries: 3 });
}

it('takes the types of its sources', () => {
  expect(types).toBeInstanceOf(Function);
});
