import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { throwError } from 'rxjs';
import { LlmStreamError, pipeServerSentEvents } from 'rx-llm';

/**
 * A failure before the stream has begun is answered by its own status: a 429 stays one, with its `retry-after`; what is
 * about this server's own account becomes 502, and a timeout 504. `x-should-retry` says whether the same request may
 * succeed later. The body is JSON, and tells nothing of the gateway.
 */
@Catch(LlmStreamError)
export class LlmErrorFilter implements ExceptionFilter<LlmStreamError> {
  catch(error: LlmStreamError, host: ArgumentsHost): void {
    // A stream that fails at once: nothing is written but the answer to the failure.
    pipeServerSentEvents(
      throwError(() => error),
      host.switchToHttp().getResponse<ServerResponse>(),
    );
  }
}
