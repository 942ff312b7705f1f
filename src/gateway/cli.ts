#!/usr/bin/env node
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { object, string } from './json.js';
import type { GatewayOptions } from './options.js';
import type { JournalEntry } from './journal.js';
import { parsePace } from './pace.js';
import { startGateway } from './server.js';

const HELP = `rx-llm-gateway — a gateway for LLM streams on your own machine

Usage: rx-llm-gateway [options]

  --port <n>                 port to listen on (default 8787; 0: a free one)
  --host <name>              address to listen on (default 127.0.0.1)
  --dialect <a|b>            whose words are spoken (default a); a request may choose with
                             x-gateway-dialect: b, or ?dialect=b
  --tokens-per-second <n>    speed of answers (default 40; 0: as fast as the client reads)
  --ttft <ms>                time to the first token (default 250)
  --jitter <0..1>            how much the waits vary (default 0.2)
  --writes <how>             frame (default), byte, coalesce=<frames>, split=<bytes>
  --seed <text>              same seed, same request: same answer (default rx-llm)
  --fault <words>            a fault for every request (see below)
  --script <words>           a fault for the next request; repeat it for the ones after; none: no fault
  --api-key <key>            let in only this key; repeat it for more (default: any key)
  --model <name>             let only this model exist; repeat it for more (default: any model)
  --max-body <bytes>         largest request body (default 33554432)
  --keep-alive <ms>          comments while a client waits; 0: none (default 15000)
  --quiet                    do not print a line for each request
  --help, --version

Endpoints: POST /v1/chat/completions, /v1/responses, /v1/messages, /v1/images (also /images/generations and
/images/edits); GET /v1/models; GET /journal shows the requests, what was delivered and what was billed.

Answers are made from the request. Tools are called when there are any and no result has come back yet; JSON schemas are
kept to; reasoning comes when it is asked for; 'Say "..."' is answered word for word; 'please refuse' is declined.

A request may ask for its own pace and fault:
  x-gateway-pace: ttft=100; tps=20; jitter=0.5; writes=byte
  x-gateway-fault: 429; retry-after=2            (also retry-after-date=<s>, retry-after-ms, should-retry=false)
                   503; times=2                  the first two tries fail, the third is answered
                   error; after=3                an error frame after three tokens (default: before the first)
                   failed; after=3               response.failed
                   incomplete=8                  ends early, with reason length (or reason=content_filter)
                   cut=3; in-frame               the body ends without a terminator
                   reset=3, reset=headers        the connection is reset
                   stall=3, stall=headers        silence; keep-alive-ms=500 keeps comments coming
                   malformed=3                   a frame that is not JSON
                   json, json; answer, html      a body that is no stream, under status 200
                   huge=4000000                  one very large frame
                   never-close, no-done          after or instead of the terminator
                   tool-indexes=zero|missing     tool calls under wrong indexes

Try it:
  curl -N http://127.0.0.1:8787/v1/chat/completions -H 'authorization: Bearer demo' -H 'content-type: application/json' \\
    -d '{"model":"vendor/leaf-1","stream":true,"messages":[{"role":"user","content":"Write a haiku about coding"}]}'
`;

function main(argv: string[]): void {
  const { values } = parseArgs({
    args: argv,
    options: {
      port: { type: 'string', default: '8787' },
      host: { type: 'string', default: '127.0.0.1' },
      dialect: { type: 'string', default: 'a' },
      'tokens-per-second': { type: 'string', default: '40' },
      ttft: { type: 'string', default: '250' },
      jitter: { type: 'string', default: '0.2' },
      writes: { type: 'string', default: 'frame' },
      seed: { type: 'string', default: 'rx-llm' },
      fault: { type: 'string' },
      script: { type: 'string', multiple: true },
      'api-key': { type: 'string', multiple: true },
      model: { type: 'string', multiple: true },
      'max-body': { type: 'string' },
      'keep-alive': { type: 'string' },
      quiet: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      version: { type: 'boolean', short: 'v', default: false },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  if (values.version) return void process.stdout.write(`${version()}\n`);

  const number = (name: 'port' | 'max-body' | 'keep-alive' | 'tokens-per-second'): number | undefined => {
    const value = values[name];
    if (value === undefined) return undefined;
    if (!/^\d+(?:\.\d+)?$/.test(value)) throw new TypeError(`--${name} must be a number, not '${value}'`);
    return Number(value);
  };
  const { dialect } = values;
  if (dialect !== 'a' && dialect !== 'b') throw new TypeError(`--dialect must be a or b, not '${dialect}'`);
  const writes = values.writes.includes('=') ? values.writes : `writes=${values.writes}`;
  const speed = number('tokens-per-second') === 0 ? '' : `tps=${values['tokens-per-second']}`;
  const maxBodyBytes = number('max-body');
  const keepAliveMs = number('keep-alive');
  const options: GatewayOptions = {
    port: number('port') ?? 8787,
    host: values.host,
    dialect,
    seed: values.seed,
    pace: parsePace(`ttft=${values.ttft}; jitter=${values.jitter}; ${writes}; ${speed}`),
    ...(values.fault === undefined ? {} : { fault: values.fault }),
    ...(values.script === undefined ? {} : { script: values.script.map((words) => (words === 'none' ? null : words)) }),
    ...(values['api-key'] === undefined ? {} : { apiKeys: values['api-key'] }),
    ...(values.model === undefined ? {} : { models: values.model }),
    ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
    ...(keepAliveMs === undefined ? {} : { keepAliveMs }),
    ...(values.quiet ? {} : { onEnd: (entry) => void process.stdout.write(`${line(entry)}\n`) }),
  };
  void run(options);
}

async function run(options: GatewayOptions): Promise<void> {
  try {
    const gateway = await startGateway(options);
    process.stdout.write(
      `rx-llm-gateway, dialect ${options.dialect?.toUpperCase()}, at ${gateway.url} (Ctrl-C ends it)\n`,
    );
    const stop = () => void gateway.close().then(() => process.exit(0));
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
  } catch (error) {
    fail(error);
  }
}

/** One request in one line: what was asked, how it ended, what it cost. */
function line(entry: JournalEntry): string {
  const bill = entry.billed ? ` $${entry.billed.costUsd.toFixed(8)}` : '';
  const tokens = entry.tokensPlanned > 0 ? ` ${entry.tokensDelivered}/${entry.tokensPlanned} tokens` : '';
  const fault = entry.fault ? ` [${entry.fault.kind}]` : '';
  const left = entry.hungUpMs === undefined ? '' : ` (client left after ${entry.hungUpMs} ms)`;
  return `${entry.method} ${entry.path} ${entry.status ?? '-'} ${entry.outcome}${left}${tokens}${bill}${fault} ${entry.endedMs} ms`;
}

/** Of the package that holds this program: `dist/esm/gateway/cli.js`. */
function version(): string {
  const manifest = join(dirname(realpathSync(process.argv[1] ?? '.')), '..', '..', '..', 'package.json');
  return string(object(JSON.parse(readFileSync(manifest, 'utf8')))['version']);
}

function fail(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\nrx-llm-gateway --help tells all.\n`);
  process.exitCode = 1;
}

try {
  main(process.argv.slice(2));
} catch (error) {
  fail(error);
}
