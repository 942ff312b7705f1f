import { type DynamicModule, Module } from '@nestjs/common';
import { createLlmClient, LlmClient } from 'rx-llm';
import { ChatController } from './chat.controller';
import { RELAY_CONFIG, type RelayConfig } from './relay-config';
import { RelayController } from './relay.controller';

@Module({ controllers: [ChatController, RelayController] })
export class AppModule {
  static register(config: RelayConfig): DynamicModule {
    const { baseUrl, apiKey = 'key-of-the-server' } = config;
    return {
      module: AppModule,
      providers: [
        { provide: RELAY_CONFIG, useValue: config },
        // An abstract class is its own token; one client serves all requests.
        { provide: LlmClient, useFactory: () => createLlmClient({ baseUrl, apiKey }) },
      ],
    };
  }
}
