// An answer on the terminal, as it comes:
//
//   node examples/node/stdout.mjs "Why is the sky blue?"
//
// Ctrl-C, or a pipe that is closed, ends the request. What it cost goes to stderr.
import { connect, finalize, merge, tap } from 'rxjs';
import { createLlmClient, finalUsage, retryBeforeFirstToken, textDeltas } from 'rx-llm';
import { findGateway } from './gateway.mjs';

const { baseUrl, apiKey, model, close } = await findGateway();
const content = process.argv[2] ?? 'Why is the sky blue?';

const show = tap((text) => process.stdout.write(text));
const account = tap(({ inputTokens, outputTokens, costUsd }) => {
  process.stdout.write('\n');
  console.error(`${inputTokens} tokens in, ${outputTokens} out${costUsd === undefined ? '' : `, $${costUsd}`}`);
});

const reading = createLlmClient({ baseUrl, apiKey })
  .chatCompletions({ model, messages: [{ role: 'user', content }] })
  .pipe(
    retryBeforeFirstToken({
      onRetry: ({ error, delayMs }) => console.error(`${error.message} Again in ${delayMs} ms.`),
    }),
    // One request, read twice.
    connect((events) => merge(events.pipe(textDeltas(), show), events.pipe(finalUsage(), account))),
    finalize(close),
  )
  .subscribe({
    error(error) {
      console.error(`\n${error.message}`);
      process.exitCode = 1;
    },
  });

const leave = () => reading.unsubscribe();
process.once('SIGINT', leave);
process.stdout.once('error', leave);
