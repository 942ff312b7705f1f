import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import type { RequestOptions } from 'rx-llm';

/**
 * What of a browser's headers goes on to the gateway: the key that its retries share, so that each is known as one, and
 * the words in which the embedded gateway is told to be slow or to fail. Not its `authorization`.
 */
export const Passed = createParamDecorator((_: unknown, context: ExecutionContext): RequestOptions => {
  const { headers } = context.switchToHttp().getRequest<IncomingMessage>();
  const named = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  const idempotencyKey = named('idempotency-key');
  return {
    headers: { 'x-gateway-fault': named('x-gateway-fault'), 'x-gateway-pace': named('x-gateway-pace') },
    ...(idempotencyKey && { idempotencyKey }),
  };
});
