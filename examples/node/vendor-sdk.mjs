// The vendors' own SDKs send the requests, RxJS and these operators read the answers:
//
//   node examples/node/vendor-sdk.mjs "What is the weather in Lisbon?"
//
// Each stream is cold: the SDK is called on subscribing, and again by a retry. Unsubscribing aborts it.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { concat, connect, endWith, finalize, map, merge, startWith } from 'rxjs';
import { fromAsyncStream, retryBeforeFirstToken, textDeltas, toolCalls } from 'rx-llm';
import { findGateway } from './gateway.mjs';

const { baseUrl, apiKey, model, close } = await findGateway();
// The SDKs' own retries would multiply with those below.
const openai = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: baseUrl.replace(/\/v1\/?$/, ''), apiKey, maxRetries: 0 });

const content = process.argv[2] ?? 'What is the weather in Lisbon?';
const messages = [{ role: 'user', content }];
const name = 'get_weather';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

const chat$ = fromAsyncStream((signal) =>
  openai.chat.completions.create(
    { model, messages, tools: [{ type: 'function', function: { name, parameters } }], stream: true },
    { signal },
  ),
);
const responses$ = fromAsyncStream((signal) =>
  openai.responses.create(
    { model, input: content, tools: [{ type: 'function', name, parameters, strict: false }], stream: true },
    { signal },
  ),
);
const messages$ = fromAsyncStream((signal) =>
  anthropic.messages.create(
    { model, messages, max_tokens: 1000, tools: [{ name, input_schema: parameters }], stream: true },
    { signal },
  ),
);

/** The SDKs' errors do not say whether they may pass; this library's do, and need no such function. */
const shouldRetry = (error) =>
  error.status === 429 ||
  error.status >= 500 ||
  error instanceof OpenAI.APIConnectionError ||
  error instanceof Anthropic.APIConnectionError;

/** The same operators for all three. */
const print = (title, events$) =>
  events$.pipe(
    retryBeforeFirstToken({ shouldRetry }),
    connect((events) =>
      merge(
        events.pipe(textDeltas()),
        events.pipe(
          toolCalls(),
          map((call) => `${call.name}(${JSON.stringify(call.input)})`),
        ),
      ),
    ),
    startWith(`${title}: `),
    endWith('\n'),
  );

const reading = concat(print('Chat Completions', chat$), print('Responses', responses$), print('Messages', messages$))
  .pipe(finalize(close))
  .subscribe({
    next: (text) => process.stdout.write(text),
    error(error) {
      console.error(error.message);
      process.exitCode = 1;
    },
  });

process.once('SIGINT', () => reading.unsubscribe());
