import { computed, inject, Injectable, InjectionToken, signal } from '@angular/core';
import { LlmClient, type EndpointName, type RequestOptions } from 'rx-llm';

export const FETCH_CLIENT = new InjectionToken<LlmClient>('FETCH_CLIENT');

export const ENDPOINTS: readonly { readonly name: EndpointName; readonly label: string }[] = [
  { name: 'chatCompletions', label: 'Chat Completions' },
  { name: 'responses', label: 'Responses' },
  { name: 'messages', label: 'Messages' },
  { name: 'images', label: 'Images' },
];

/** What the demo gateway can be asked to do wrong, in the words of its `x-gateway-fault` header. */
export const REHEARSALS: readonly { readonly fault: string; readonly label: string }[] = [
  { fault: '', label: 'Nothing: all goes well' },
  { fault: '503; times=2', label: 'Busy twice, then an answer' },
  { fault: '429; retry-after-ms=1500; times=1', label: 'Rate limited, once' },
  { fault: 'reset=30', label: 'The connection breaks' },
  { fault: 'error; after=30', label: 'The model fails halfway' },
  { fault: 'stall=30', label: 'The answer stalls' },
  { fault: '429; retry-after=120', label: 'Rate limited, for too long' },
  { fault: '401', label: 'The key is refused' },
];

/** How fast the demo gateway answers, in the words of its `x-gateway-pace` header. */
const PACES = {
  calm: 'ttft=500; tps=45; jitter=0.4',
  fast: 'ttft=0',
  /** A picture counts for hundreds of tokens. */
  painting: 'ttft=500; tps=200',
} as const;

/** What the reader chose. */
@Injectable({ providedIn: 'root' })
export class Settings {
  readonly #byHttpClient = inject(LlmClient);
  readonly #byFetch = inject(FETCH_CLIENT);

  readonly endpoint = signal<EndpointName>('chatCompletions');
  readonly transport = signal<'http-client' | 'fetch'>('http-client');
  readonly thinking = signal(true);
  readonly fast = signal(false);
  readonly fault = signal('');

  readonly client = computed(() => (this.transport() === 'fetch' ? this.#byFetch : this.#byHttpClient));
  readonly options = computed<RequestOptions>(() => {
    const pace = this.fast() ? 'fast' : this.endpoint() === 'images' ? 'painting' : 'calm';
    return { headers: { 'x-gateway-pace': PACES[pace], 'x-gateway-fault': this.fault() || 'none' } };
  });
}
