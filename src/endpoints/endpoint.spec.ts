import { chatEndpoint } from './chat-completions/endpoint.js';
import type { Endpoint, Progress } from './endpoint.js';
import { imagesEndpoint } from './images/endpoint.js';
import { messagesEndpoint } from './messages/endpoint.js';
import { responsesEndpoint } from './responses/endpoint.js';

/** What endpoints see is whatever a server sent. */
type Wire = Pick<Endpoint<never>, 'failure' | 'terminal'>;
const failureIn = (endpoint: Wire, event: object): ReturnType<Endpoint<never>['failure']> =>
  endpoint.failure(event as never);

const text = { choices: [{ index: 0, delta: { content: 'Hi' } }] };
const error = { message: 'm', code: 'c' };
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

describe('a failure of', () => {
  describe.each<[string, Wire, [string, object, object | undefined][]]>([
    [
      'chat completions',
      chatEndpoint,
      [
        ['an error is one', { error }, { message: 'm', code: 'c', emit: false }],
        ['an error beside text is one, once the text is out', { ...text, error }, { message: 'm', emit: true }],
        ['an error beside usage is one, once that is out', { error, usage }, { message: 'm', emit: true }],
        ['an error of null is none', { ...text, error: null }, undefined],
        ['the finish reason error is one', { choices: [{ finish_reason: 'error' }] }, { emit: false }],
        [
          'the finish reason error says that it was one',
          { choices: [{ finish_reason: 'error' }] },
          { message: expect.stringContaining('finish reason') as string },
        ],
        ['so is that of a later choice', { choices: [{ finish_reason: 'stop' }, { finish_reason: 'error' }] }, {}],
        ['another finish reason is none', { choices: [{ finish_reason: 'stop' }] }, undefined],
        ['the error of a choice is one', { choices: [{ delta: {}, error }] }, { message: 'm', code: 'c' }],
        [
          'the error of a choice says more than its finish reason',
          { choices: [{ finish_reason: 'error', error }] },
          { message: 'm' },
        ],
        ['an empty error of a choice is none', { choices: [{ delta: {}, error: {} }] }, undefined],
        ['the finish reason may stand outside', { finish_reason: 'error' }, { emit: false }],
        ['the finish reason may stand beside choices', { ...text, finish_reason: 'error' }, { emit: true }],
        ['an object of kind error is one', { object: 'error', message: 'm' }, { message: 'm', emit: false }],
        ['a type of error is one', { type: 'error', message: 'm' }, { message: 'm', emit: false }],
        ['a code alone is one', { code: 500 }, { code: 500 }],
        ['a message alone is one', { message: 'm' }, { message: 'm' }],
        ['a detail alone is one', { detail: 'm' }, { message: 'm' }],
        ['a code beside choices is none', { ...text, code: 500, message: 'm' }, undefined],
        ['an object of kind error beside choices is none', { ...text, object: 'error', code: 500 }, undefined],
        ['a code beside null for the choices is none', { choices: null, code: 500 }, undefined],
        ['a code beside usage is none', { code: 200, usage }, undefined],
        ['an object of which nothing is known is none', { estimate: 3, message: '' }, undefined],
      ],
    ],
    [
      'responses',
      responsesEndpoint,
      [
        ['an error is one', { type: 'error', ...error }, { message: 'm', code: 'c', emit: false }],
        [
          'a failed response is one, once it is out',
          { type: 'response.failed', response: { error } },
          { message: 'm', emit: true },
        ],
        ['a failed response may be empty', { type: 'response.failed' }, { emit: true }],
        [
          'the request id of a failed response is known',
          { type: 'response.failed', response: { error, request_id: 'r' } },
          { requestId: 'r' },
        ],
        [
          'the older final event is one by its status',
          { type: 'response.done', response: { status: 'failed', error } },
          { message: 'm', emit: true },
        ],
        [
          'the older final event is none otherwise',
          { type: 'response.done', response: { status: 'completed' } },
          undefined,
        ],
        ['an error without a type is one', { error }, { message: 'm', emit: false }],
        ['an error of another type is none', { type: 'response.x', error }, undefined],
        ['a completed response is none', { type: 'response.completed', response: { error: null } }, undefined],
        ['an empty event is none', {}, undefined],
      ],
    ],
    ...(
      [
        ['messages', messagesEndpoint],
        ['images', imagesEndpoint],
      ] as const
    ).map(
      ([name, endpoint]) =>
        [
          name,
          endpoint,
          [
            ['an error is one', { type: 'error', error }, { message: 'm', code: 'c', emit: false }],
            ['an error without a type is one', { error }, { message: 'm' }],
            ['an error of another type is none', { type: 'message_delta', error }, undefined],
            ['an empty event is none', {}, undefined],
          ],
        ] as [string, Wire, [string, object, object | undefined][]],
    ),
  ])('%s:', (_name, endpoint, rows) => {
    it.each(rows)('%s', (_fact, event, expected) => {
      const failure = failureIn(endpoint, event);
      if (expected === undefined) expect(failure).toBeUndefined();
      else expect(failure).toMatchObject(expected);
    });
  });
});

describe('the end of', () => {
  const DONE = '[DONE]';
  const finished = (index: number): object => ({ choices: [{ index, delta: {}, finish_reason: 'stop' }] });
  const started = (index: number): object => ({ choices: [{ index, delta: {} }] });
  const completed = { type: 'image_generation.completed' };

  describe.each<[string, Wire, [string, object, (object | typeof DONE)[], Progress[]][]]>([
    [
      'chat completions',
      chatEndpoint,
      [
        ['is the sentinel', {}, [text, DONE], [undefined, 'done']],
        ['is the sentinel, with nothing before it', {}, [DONE], ['done']],
        ['may come once the choice has finished', {}, [text, finished(0)], [undefined, 'enough']],
        ['waits for all that were asked for', { n: 2 }, [finished(0), finished(1)], [undefined, 'enough']],
        ['counts a choice once', { n: 2 }, [finished(0), finished(0)], [undefined, undefined]],
        [
          'waits for all that have started',
          {},
          [started(1), finished(0), finished(1)],
          [undefined, undefined, 'enough'],
        ],
        ['does not come with an empty finish reason', {}, [{ choices: [{ finish_reason: '' }] }], [undefined]],
        ['does not come with a chunk of no choice', {}, [{ choices: null }, {}], [undefined, undefined]],
        ['is not moved by an `n` that is no number', { n: 'x' }, [finished(0)], ['enough']],
        [
          'is not moved by more choices than there can be',
          {},
          [{ choices: Array.from({ length: 256 }, (_, index) => ({ index, finish_reason: 'stop' })) }, started(256)],
          ['enough', 'enough'],
        ],
        [
          'waits for the last of as many choices as there can be',
          {},
          [{ choices: Array.from({ length: 256 }, (_, index) => ({ index })) }, finished(0)],
          [undefined, undefined],
        ],
      ],
    ],
    [
      'responses',
      responsesEndpoint,
      [
        ['is the completed response', {}, [{ type: 'response.completed' }], ['done']],
        ['is the incomplete response', {}, [{ type: 'response.incomplete' }], ['done']],
        ['is the older final event with its object', {}, [{ type: 'response.done', response: {} }], ['done']],
        ['is not the older final event alone', {}, [{ type: 'response.done' }], [undefined]],
        ['is not the sentinel', {}, [DONE], ['cut']],
        ['is no other event', {}, [{ type: 'response.output_item.done' }], [undefined]],
      ],
    ],
    [
      'messages',
      messagesEndpoint,
      [
        ['is its last event', {}, [{ type: 'message_stop' }], ['done']],
        [
          'may come after a stop reason',
          {},
          [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }],
          ['enough'],
        ],
        ['may come after one at the start', {}, [{ type: 'message_start', message: { stop_reason: 'x' } }], ['enough']],
        [
          'does not go back',
          {},
          [
            { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
            { type: 'message_delta', delta: {} },
          ],
          ['enough', 'enough'],
        ],
        [
          'does not go back at a second start',
          {},
          [
            { type: 'message_start', message: { stop_reason: 'x' } },
            { type: 'message_start', message: {} },
          ],
          ['enough', 'enough'],
        ],
        ['is no stop reason of null', {}, [{ type: 'message_delta', delta: { stop_reason: null } }], [undefined]],
        ['is no stop reason of another event', {}, [{ type: 'x', delta: { stop_reason: 'end_turn' } }], [undefined]],
        [
          'is no stop reason of another message',
          {},
          [{ type: 'x', message: { stop_reason: 'end_turn' } }],
          [undefined],
        ],
        ['is no stray sentinel', {}, [DONE], [undefined]],
        [
          'is a sentinel after a stop reason',
          {},
          [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, DONE],
          ['enough', 'done'],
        ],
      ],
    ],
    [
      'images',
      imagesEndpoint,
      [
        ['may come after the whole image', {}, [completed], ['enough']],
        ['waits for all that were asked for', { n: 2 }, [completed, completed], [undefined, 'enough']],
        ['may come after one more', {}, [completed, completed], ['enough', 'enough']],
        ['is not a partial image', {}, [{ type: 'image_generation.partial_image' }], [undefined]],
        ['is the sentinel after the image', {}, [completed, DONE], ['enough', 'done']],
        ['is not the sentinel before it', {}, [DONE], ['cut']],
      ],
    ],
  ])('%s', (_name, endpoint, rows) => {
    it.each(rows)('%s', (_fact, request, events, expected) => {
      const tracker = endpoint.terminal(request);
      expect(events.map((event) => (event === DONE ? tracker.sentinel() : tracker.next(event as never)))).toEqual(
        expected,
      );
    });
  });
});

it.each([
  ['responses', responsesEndpoint],
  ['messages', messagesEndpoint],
  ['images', imagesEndpoint],
])('pings, keepalives and errors are no tokens of %s, whoever sends them', (_name, endpoint: Endpoint<never>) => {
  for (const type of ['ping', 'keepalive', 'error']) expect(endpoint.isToken({ type } as never)).toBe(false);
});

describe('a delta', () => {
  it.each([
    ['responses', responsesEndpoint, 'response.output_text.delta'],
    ['messages', messagesEndpoint, 'content_block_delta'],
  ])('of %s is no failure and ends nothing', (_name, endpoint: Endpoint<never>, type) => {
    const event = { type, error, response: { status: 'failed' }, delta: { stop_reason: 'end_turn' } } as never;
    expect(endpoint.isDelta?.(event)).toBe(true);
    expect(endpoint.failure(event)).toBeUndefined();
    expect(endpoint.terminal({}).next(event)).toBeUndefined();
  });

  it('is no other event', () => {
    for (const type of ['response.completed', 'response.output_text.done', undefined]) {
      expect(responsesEndpoint.isDelta?.({ type } as never)).toBe(false);
    }
    for (const type of ['message_delta', 'content_block_start', undefined]) {
      expect(messagesEndpoint.isDelta?.({ type } as never)).toBe(false);
    }
  });
});
