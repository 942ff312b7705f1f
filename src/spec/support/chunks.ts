import { Observable, type Subscriber } from 'rxjs';
import { encodeServerSentEvent, type Transport, type TransportResponse } from 'rx-llm';

type Body = (observer: Subscriber<Uint8Array | string>) => void;

/** A transport in memory: answers at once, and gives the body in the very chunks of the test, synchronously. */
export function inMemory(
  body: readonly (Uint8Array | string)[] | Body,
  head: Partial<Omit<TransportResponse, 'body'>> = {},
): Transport {
  return () =>
    new Observable((subscriber) => {
      subscriber.next({
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        ...head,
        body: new Observable((observer) => {
          if (typeof body === 'function') body(observer);
          else {
            for (const chunk of body) {
              if (observer.closed) return;
              observer.next(chunk);
            }
            observer.complete();
          }
        }),
      });
      subscriber.complete();
    });
}

export const data = (value: unknown, type?: string): string =>
  encodeServerSentEvent({ ...(type !== undefined && { type }), data: JSON.stringify(value) });
export const text = (content: string): string => data({ choices: [{ index: 0, delta: { content } }] });
export const finish = data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
export const done = 'data: [DONE]\n\n';
