import { chatUsage } from '../endpoints/chat-completions/usage.js';
import { imagesUsage } from '../endpoints/images/usage.js';
import { messagesUsage } from '../endpoints/messages/usage.js';
import { responsesUsage } from '../endpoints/responses/usage.js';
import { UsageTally } from '../usage.js';
import type { Concept, ReaderFactory } from './concept.js';

/** Told after each report; the tally of an answer stays the same object. */
export type UsageSink = (tally: UsageTally) => void;

function tally(usageOf: (event: object) => object | undefined): ReaderFactory<object, UsageSink> {
  return (sink) => {
    const tally = new UsageTally();
    return {
      next(event) {
        const usage = usageOf(event);
        if (!usage) return;
        tally.report(usage);
        sink(tally);
      },
    };
  };
}

/** What an answer has cost, in tokens and in money. */
export const usage = {
  chatCompletions: tally(chatUsage),
  responses: tally(responsesUsage),
  messages: tally(messagesUsage),
  images: tally(imagesUsage),
} satisfies Concept<UsageSink>;
