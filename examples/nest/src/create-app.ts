import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module';
import type { RelayConfig } from './relay-config';

/** The application, ready to listen. */
export async function createApp(config: RelayConfig): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule.register(config), {
    logger: ['error', 'warn'],
    // Streams are open for minutes: without this, close() waits for them.
    forceCloseConnections: true,
  });
  // Express takes 100 kB, and a conversation with a picture in it is longer.
  app.useBodyParser('json', { limit: '20mb' });
  // Name your own pages here. What browsers hide unless it is exposed: whether to try again, and how long to wait.
  app.enableCors({ origin: true, exposedHeaders: ['retry-after', 'x-should-retry'] });
  return app;
}
