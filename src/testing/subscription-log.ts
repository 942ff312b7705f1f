import { asyncScheduler, type Subscription } from 'rxjs';

/** When something was subscribed to and left, for `expectSubscriptions()`. */
export interface SubscriptionLog {
  subscribedFrame: number;
  unsubscribedFrame: number;
}

/** Adds an entry to the log, and closes it when the subscription ends. In `TestScheduler.run` this clock is virtual. */
export function logSubscription(log: SubscriptionLog[], subscription: Subscription): void {
  const entry = { subscribedFrame: asyncScheduler.now(), unsubscribedFrame: Infinity };
  log.push(entry);
  subscription.add(() => {
    entry.unsubscribedFrame = asyncScheduler.now();
  });
}
