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

it.each([
  ['there', 'key'],
  ['asked for', () => 'key'],
])('sends nothing if writing the request aborts it, with a key that is %s', (_, apiKey) => {
  const scheduler = new VirtualTimeScheduler();
  const transport = jest.fn(() => NEVER);
  const client = createLlmClient({ baseUrl: 'https://gateway.example/v1', apiKey, transport, scheduler });
  const controller = new AbortController();
  const { signal } = controller;
  const model = { toJSON: () => controller.abort() } as never;
  const error = jest.fn();

  client.chatCompletions({ model, messages: [] }, { signal }).subscribe({ error });
  scheduler.flush();

  expect(error).toHaveBeenCalledWith(signal.reason);
  expect(transport).not.toHaveBeenCalled();
  expect(scheduler.frame).toBe(0);
});

describe('a clock that is no length of time', () => {
  const baseUrl = 'https://gateway.example/v1';
  const request = { model: 'm', messages: [] };

  it.each([
    [NaN, 'timeouts.idleMs must be milliseconds, 0 or more, not NaN'],
    [-1, 'timeouts.idleMs must be milliseconds, 0 or more, not -1'],
    ['30s' as never, 'timeouts.idleMs must be milliseconds, 0 or more, not string'],
    [null as never, 'timeouts.idleMs must be milliseconds, 0 or more, not object'],
  ])('such as %p is refused by the client, and by the method it is given to', (idleMs, message) => {
    const transport = jest.fn(() => NEVER);
    const client = createLlmClient({ baseUrl, transport });

    expect(() => createLlmClient({ baseUrl, timeouts: { idleMs } })).toThrow(new RangeError(message));
    expect(() => client.chatCompletions(request, { timeouts: { idleMs } })).toThrow(new RangeError(message));
    expect(transport).not.toHaveBeenCalled();
  });

  it.each([0, Infinity, undefined, 1.5])('is not %p', (idleMs) => {
    const client = createLlmClient({ baseUrl, timeouts: { idleMs } });
    expect(() => client.chatCompletions(request, { timeouts: { idleMs } })).not.toThrow();
  });
});

it('names the address as what is missing when there are no options at all', () => {
  expect(() => (createLlmClient as () => unknown)()).toThrow(/^`baseUrl` is empty/);
});
