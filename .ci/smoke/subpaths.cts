// With `moduleResolution: node10`, as in ts-jest's usual set-up: `exports` is not read there, `typesVersions` is.
import { from } from 'rxjs';
import { accumulateText, isLlmStreamError } from 'rx-llm';
import { startGateway, type Gateway } from 'rx-llm/gateway';
import { chat } from 'rx-llm/testing';
import { undiciTransport } from 'rx-llm/undici';

export const start: () => Promise<Gateway> = startGateway;
if (typeof undiciTransport() !== 'function' || isLlmStreamError(0)) throw new Error('not what the types say');
// @ts-expect-error a builder that no endpoint has
void chat.noSuchEvent;

let text = '';
from(chat.turn('Hello world'))
  .pipe(accumulateText())
  .subscribe((soFar: string) => (text = soFar));
if (text !== 'Hello world') throw new Error(`the text was ${text}`);
