import { NEVER, Subject, switchMap, VirtualTimeScheduler } from 'rxjs';
import { createLlmClient } from 'rx-llm';

it('does nothing for a subscriber that leaves just before it is subscribed to', () => {
  const scheduler = new VirtualTimeScheduler();
  const apiKey = jest.fn(() => 'key');
  const transport = jest.fn(() => NEVER);
  const timeouts = { totalMs: 1000, firstTokenMs: 1000 };
  const client = createLlmClient({ baseUrl: 'https://gateway.example/v1', apiKey, transport, timeouts, scheduler });

  const questions = new Subject<string>();
  const answers = switchMap((content: string) => {
    subscription.unsubscribe();
    return client.chatCompletions({ model: 'm', messages: [{ role: 'user', content }] });
  });
  const subscription = questions.pipe(answers).subscribe();
  questions.next('Hi');
  scheduler.flush();

  expect(apiKey).not.toHaveBeenCalled();
  expect(transport).not.toHaveBeenCalled();
  expect(scheduler.frame).toBe(0);
});
