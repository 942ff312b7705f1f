import { provideHttpClient, withFetch, withInterceptors } from '@angular/common/http';
import {
  type ApplicationConfig,
  DOCUMENT,
  inject,
  provideBrowserGlobalErrorListeners,
  provideZonelessChangeDetection,
} from '@angular/core';
import { provideLlm, withDefaults, withHttpClient, withToken } from 'rx-llm/angular';
import { authInterceptor, DEMO_KEY } from './auth';
import { FETCH_CLIENT } from './settings';

/** Where the gateway is: the page says so. */
function gatewayUrl(): string {
  return inject(DOCUMENT).querySelector<HTMLMetaElement>('meta[name=gateway]')?.content ?? '/v1';
}

/** `?xhr` sends by XMLHttpRequest, which `provideHttpClient()` takes by default up to Angular 21, to compare. */
const backend = new URLSearchParams(globalThis.location?.search).has('xhr') ? [] : [withFetch()];

const patience = withDefaults({ options: { timeouts: { firstTokenMs: 30_000, stalledMs: 8_000 } } });

export const appConfig: ApplicationConfig = {
  providers: [
    provideBrowserGlobalErrorListeners(),
    provideZonelessChangeDetection(),
    provideHttpClient(...backend, withInterceptors([authInterceptor])),
    // The client of the application: its requests pass the interceptors, one of which knows the key.
    provideLlm(() => ({ baseUrl: gatewayUrl() }), withHttpClient(), patience),
    // The same gateway once more, without HttpClient, to compare the two.
    provideLlm(() => ({ baseUrl: gatewayUrl(), apiKey: DEMO_KEY }), withToken(FETCH_CLIENT), patience),
  ],
};
