import { plan, type Changes } from './content/plan.js';
import { readChat, renderChat } from './endpoints/chat-completions.js';
import { readImages, renderImages } from './endpoints/images.js';
import { readMessages, renderMessage } from './endpoints/messages.js';
import { renderResponse } from './endpoints/responses-answer.js';
import { conversationOf, readResponses } from './endpoints/responses.js';
import type { Fault } from './faults.js';
import type { JournalEntry } from './journal.js';
import { list, own, type Json } from './json.js';
import type { ConversationMemory, PromptCache } from './memory.js';
import { costOf, providerOf, resolve } from './models.js';
import { RequestProblem, type Answer, type GatewayEndpoint, type Rendering } from './protocol.js';

export interface Surroundings {
  readonly seed: string;
  readonly models: readonly string[] | undefined;
  readonly memory: ConversationMemory;
  readonly cache: PromptCache;
}

/** Reads a request and prepares its answer; throws {@link RequestProblem} where the request is not valid. */
export function prepare(
  endpoint: GatewayEndpoint,
  body: Json,
  entry: JournalEntry,
  fault: Fault | undefined,
  { seed, models, memory, cache }: Surroundings,
): { readonly rendering: Rendering; readonly stream: boolean } {
  const answerTo = (model: string): Answer => {
    if (models && !models.includes(model)) {
      const message = `The model '${model.slice(0, 100)}' does not exist`;
      throw new RequestProblem({ status: 404, message, code: 'model_not_found', param: 'model' });
    }
    const others = list(own(body, 'models')).filter((one): one is string => typeof one === 'string' && one !== model);
    return {
      dialect: entry.dialect,
      requestId: entry.requestId,
      created: Math.floor(entry.at / 1000),
      model,
      resolvedModel: resolve(model),
      requestedModels: [model, ...others],
      provider: providerOf(resolve(model)),
      body,
      userAgent: entry.headers['user-agent'] ?? '',
      cost: costOf,
      toolIndexes: fault?.kind === 'tool-indexes' ? (fault.as ?? 'zero') : 'right',
      hugeBytes: fault?.kind === 'huge' ? (fault.bytes ?? DEFAULT_HUGE) : 0,
    };
  };
  const changes = changesOf(fault);

  switch (endpoint) {
    case 'chatCompletions': {
      const ask = readChat(body, seed);
      return { rendering: renderChat(ask, plan(ask, changes), answerTo(ask.model)), stream: ask.stream };
    }
    case 'responses': {
      const ask = readResponses(body, seed, memory);
      const answer = answerTo(ask.model);
      const rendering = renderResponse(ask, plan(ask, changes), answer);
      if (own(body, 'store') !== false) memory.keep(rendering.id, conversationOf(body, memory), rendering.items);
      return { rendering, stream: ask.stream };
    }
    case 'messages': {
      const ask = readMessages(body, seed, cache);
      return { rendering: renderMessage(ask, plan(ask, changes), answerTo(ask.model)), stream: ask.stream };
    }
    case 'images': {
      const ask = readImages(body, seed, entry.path.endsWith('/edits'));
      return { rendering: renderImages(ask, answerTo(ask.model), fault?.kind === 'incomplete'), stream: ask.stream };
    }
  }
}

const DEFAULT_HUGE = 1024 * 1024;

function changesOf(fault: Fault | undefined): Changes {
  if (fault?.kind === 'incomplete')
    return { incomplete: { after: fault.after ?? 5, finish: fault.reason ?? 'length' } };
  if (fault?.kind === 'huge') return { huge: { after: fault.after ?? 0, bytes: fault.bytes ?? DEFAULT_HUGE } };
  return {};
}
