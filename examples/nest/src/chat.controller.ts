import {
  BadRequestException,
  Controller,
  Get,
  Header,
  Headers,
  HttpException,
  Inject,
  Query,
  Sse,
  SseSignal,
  UseFilters,
} from '@nestjs/common';
import { type Observable } from 'rxjs';
import { LlmClient, toServerSentEvents, untilStarted, type ServerSentEvent } from 'rx-llm';
import { LlmErrorFilter } from './llm-error.filter';
import { PAGE } from './page';
import { RELAY_CONFIG, type RelayConfig } from './relay-config';

/** A question in the address, for `EventSource`, and a page that uses it. */
@Controller()
@UseFilters(LlmErrorFilter)
export class ChatController {
  constructor(
    private readonly llm: LlmClient,
    @Inject(RELAY_CONFIG) private readonly config: RelayConfig,
  ) {}

  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  page(): string {
    return PAGE;
  }

  @Sse('chat')
  chat(
    @Query('prompt') prompt: unknown,
    @Headers('last-event-id') lastEventId: string | undefined,
    @SseSignal() signal: AbortSignal,
  ): Promise<Observable<ServerSentEvent>> {
    // An EventSource whose connection broke comes again by itself. It would be a new answer, paid for anew: 204 ends it.
    if (lastEventId) throw new HttpException('', 204);
    if (typeof prompt !== 'string' || prompt === '') throw new BadRequestException('`prompt` is missing');

    const { model = 'auto', keepAliveMs = 15_000 } = this.config;
    const events = this.llm.chatCompletions({ model, messages: [{ role: 'user', content: prompt }] });
    return untilStarted(events.pipe(toServerSentEvents({ keepAliveMs })), signal);
  }
}
