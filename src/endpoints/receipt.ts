import type { ReaderFactory } from '../concepts/concept.js';
import type { FinishSink } from '../concepts/finish.js';
import type { ReceiptSink } from '../concepts/receipt.js';
import { ReceiptTally } from '../receipt.js';
import type { Fields } from './fields.js';

/** A receipt's reader, from where an endpoint keeps the receipt's fields, its usage, and its finish reason. */
export function receiptReader(
  bodyOf: (event: object) => Fields,
  usageOf: (event: object) => object | undefined,
  finish?: ReaderFactory<object, FinishSink>,
): ReaderFactory<object, ReceiptSink> {
  return (sink) => {
    const tally = new ReceiptTally();
    const finishReader = finish?.((reason, choice) => {
      if (choice === 0) tally.finish(reason);
    });
    return {
      next(event) {
        tally.report(bodyOf(event));
        const usage = usageOf(event);
        if (usage) tally.usage(usage);
        finishReader?.next(event);
        sink(tally);
      },
    };
  };
}
