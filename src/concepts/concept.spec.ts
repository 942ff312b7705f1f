import { chat, messages, responses } from '../testing/index.js';
import { readerOf, type ReaderFactory } from './concept.js';

/** Logs what is read, by which of its endpoint's readers. */
function logging(): { log: string[]; concept: Record<'chatCompletions' | 'responses' | 'messages', Factory> } {
  const log: string[] = [];
  const factory = (name: string): Factory => {
    let made = 0;
    return () => {
      const reader = `${name} ${++made}`;
      return {
        next: (event) => log.push(`${reader}: ${String((event as { type?: unknown }).type)}`),
        end: (error) => log.push(`${reader} ends${error === undefined ? '' : `: ${String(error)}`}`),
      };
    };
  };
  return {
    log,
    concept: {
      chatCompletions: factory('chat'),
      responses: factory('responses'),
      messages: factory('messages'),
    },
  };
}
type Factory = ReaderFactory<object, undefined>;

describe('readerOf', () => {
  it('makes a reader for the endpoint that the shape of the events names', () => {
    const { log, concept } = logging();
    const reader = readerOf(concept, undefined);
    reader.next(chat.text('a'));
    reader.next(chat.text('b'));
    reader.end?.();
    expect(log).toEqual(['chat 1: undefined', 'chat 1: undefined', 'chat 1 ends']);
  });

  it('tells the reader of an error', () => {
    const { log, concept } = logging();
    const reader = readerOf(concept, undefined);
    reader.next(messages.text('a'));
    reader.end?.('broken');
    expect(log).toEqual(['messages 1: content_block_delta', 'messages 1 ends: broken']);
  });

  it('starts afresh at response.created and at message_start', () => {
    const { log, concept } = logging();
    const reader = readerOf(concept, undefined);
    for (const event of [responses.created(), responses.text('a'), responses.created()]) reader.next(event);
    for (const event of [messages.start(), messages.start()]) reader.next(event);
    expect(log).toEqual([
      'responses 1: response.created',
      'responses 1: response.output_text.delta',
      'responses 1 ends',
      'responses 2: response.created',
      'messages 1: message_start',
      'messages 1 ends',
      'messages 2: message_start',
    ]);
  });

  it('gives an event without type and choices to the answer that is being read', () => {
    const { log, concept } = logging();
    const reader = readerOf(concept, undefined);
    for (const event of [messages.start(), { detail: 'x' }]) reader.next(event);
    for (const event of [chat.text('a'), messages.ping(), { usage: {} }]) reader.next(event);
    expect(log).toEqual([
      'messages 1: message_start',
      'messages 1: undefined',
      'chat 1: undefined',
      'messages 1: ping',
      'chat 1: undefined',
    ]);
  });

  it("keeps the reader of an answer when an event of another endpoint's shape strays in", () => {
    const { log, concept } = logging();
    const reader = readerOf(concept, undefined);
    for (const event of [responses.text('a'), messages.ping(), responses.text('b')]) reader.next(event);
    expect(log).toEqual([
      'responses 1: response.output_text.delta',
      'messages 1: ping',
      'responses 1: response.output_text.delta',
    ]);
  });

  it('gives events whose type names no endpoint to the reader of the answer, and drops them before one', () => {
    const { log, concept } = logging();
    const reader = readerOf(concept, undefined);
    for (const event of [{ type: 'error' }, messages.ping(), { type: 'error' }, { type: 'shiny' }]) reader.next(event);
    expect(log).toEqual(['messages 1: ping', 'messages 1: error', 'messages 1: shiny']);
  });

  it('tells by the choices whose an event is, where others of its type name no endpoint', () => {
    const { log, concept } = logging();
    const reader = readerOf(concept, undefined);
    const shiny = { type: 'shiny' };
    for (const event of [messages.ping(), shiny, { ...shiny, choices: [] }, messages.ping(), shiny]) reader.next(event);
    expect(log).toEqual([
      'messages 1: ping',
      'messages 1: shiny',
      'chat 1: shiny',
      'messages 1: ping',
      'messages 1: shiny',
    ]);
  });

  it('passes over endpoints that cannot carry the concept', () => {
    const { log, concept } = logging();
    const reader = readerOf({ chatCompletions: concept.chatCompletions }, undefined);
    reader.next(messages.start());
    reader.next(messages.text('a'));
    reader.end?.();
    expect(log).toEqual([]);
  });
});
