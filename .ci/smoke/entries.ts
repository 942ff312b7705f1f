// Each entry point, used: the declarations of all of them are checked, under old and new versions of TypeScript.
import { InjectionToken, type EnvironmentProviders, type Signal } from '@angular/core';
import { createLlmClient, LlmClient, textDeltas } from 'rx-llm';
import { llmResource, provideLlm, withDefaults, withToken, withTransport } from 'rx-llm/angular';
import { startGateway, type Gateway, type JournalEntry } from 'rx-llm/gateway';
import { chat, fakeLlmClient, marbles } from 'rx-llm/testing';
import { undiciTransport } from 'rx-llm/undici';
import type { Observable } from 'rxjs';

const transport = undiciTransport();
const client: LlmClient = createLlmClient({ baseUrl: 'https://gateway.example/v1', transport });
export const text: Observable<string> = client.chatCompletions({ model: 'm', messages: [] }).pipe(textDeltas());

export async function journal(): Promise<readonly JournalEntry[]> {
  const gateway: Gateway = await startGateway({ script: ['429; retry-after=2', null] });
  await gateway.close();
  return gateway.journal;
}

export const test: () => void = marbles(({ cold, expectObservable }) => {
  const llm = fakeLlmClient({ chatCompletions: cold('-a|', { a: chat.text('Hi') }) });
  expectObservable(llm.chatCompletions({ model: 'm', messages: [] }).pipe(textDeltas())).toBe('-x|', { x: 'Hi' });
  // @ts-expect-error a builder that no endpoint has
  void chat.noSuchEvent;
});

export const providers: EnvironmentProviders = provideLlm(
  { baseUrl: '/v1' },
  withTransport(transport),
  withDefaults({ chatCompletions: { model: 'm' } }),
  withToken(new InjectionToken<LlmClient>('another gateway')),
);
const answer = llmResource({ params: () => 'Hi', stream: () => client.responses({ model: 'm', input: 'Hi' }) });
export const shown: Signal<string> = answer.text;
export const error: Signal<unknown> = answer.error;
