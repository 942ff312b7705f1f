import {
  Body,
  Controller,
  HttpCode,
  Inject,
  Post,
  RequestMethod,
  Res,
  Sse,
  SseSignal,
  UseFilters,
} from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import type { Observable } from 'rxjs';
import { LlmClient, pipeServerSentEvents, toServerSentEvents, untilStarted, type ServerSentEvent } from 'rx-llm';
import type { ChatCompletionRequest, ImageRequest, MessageRequest, RequestOptions, ResponseRequest } from 'rx-llm';
import { LlmErrorFilter } from './llm-error.filter';
import { Passed } from './passed';
import { RELAY_CONFIG, type RelayConfig } from './relay-config';
import { RequestPipe } from './request.pipe';

/** Characters that may wait for a reader that does not keep up; one that is further behind is cut off. */
const maxPendingDataLength = 1024 * 1024;
const POST = { method: RequestMethod.POST, maxPendingDataLength };

/**
 * The gateway's own paths, so that a page can use this server as its gateway. A server of yours has to know whom it
 * lets in, and had better choose the models and limits itself: whoever gets here spends its money.
 */
@Controller('v1')
@UseFilters(LlmErrorFilter)
export class RelayController {
  constructor(
    private readonly llm: LlmClient,
    @Inject(RELAY_CONFIG) private readonly config: RelayConfig,
  ) {}

  @Sse('chat/completions', POST)
  @HttpCode(200)
  chatCompletions(
    @Body(RequestPipe) request: ChatCompletionRequest,
    @Passed() options: RequestOptions,
    @SseSignal() signal: AbortSignal,
  ): Promise<Observable<ServerSentEvent>> {
    return this.relay(this.llm.chatCompletions(request, options), signal);
  }

  @Sse('responses', POST)
  @HttpCode(200)
  responses(
    @Body(RequestPipe) request: ResponseRequest,
    @Passed() options: RequestOptions,
    @SseSignal() signal: AbortSignal,
  ): Promise<Observable<ServerSentEvent>> {
    return this.relay(this.llm.responses(request, options), signal);
  }

  @Sse('messages', POST)
  @HttpCode(200)
  messages(
    @Body(RequestPipe) request: MessageRequest,
    @Passed() options: RequestOptions,
    @SseSignal() signal: AbortSignal,
  ): Promise<Observable<ServerSentEvent>> {
    return this.relay(this.llm.messages(request, options), signal);
  }

  /**
   * Past `@Sse`: Nest counts an event that is being written as one that waits, and a picture is an event of megabytes.
   * `maxBufferedBytes` is about what waits before it.
   */
  @Post('images')
  images(
    @Body(RequestPipe) request: ImageRequest,
    @Passed() options: RequestOptions,
    @Res() response: ServerResponse,
  ): void {
    const frames = this.llm.images(request, options).pipe(toServerSentEvents(this.keepAlive));
    pipeServerSentEvents(frames, response, { maxBufferedBytes: 8 * 1024 * 1024 });
  }

  private relay(events: Observable<object>, signal: AbortSignal): Promise<Observable<ServerSentEvent>> {
    return untilStarted(events.pipe(toServerSentEvents(this.keepAlive)), signal);
  }

  private get keepAlive(): { keepAliveMs: number } {
    return { keepAliveMs: this.config.keepAliveMs ?? 15_000 };
  }
}
