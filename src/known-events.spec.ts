import { asUnknownEvent, isKnownEvent } from './known-events.js';

describe('isKnownEvent', () => {
  it.each([
    'response.created',
    'response.output_text.delta',
    'response.code_interpreter_call.interpreting',
    'response.fusion_call.panel.reasoning.delta',
    'keepalive',
    'message_start',
    'content_block_delta',
    'ping',
    'image_edit.completed',
    'image_generation.text_chunk',
    'error',
  ])('knows %s', (type) => {
    expect(isKnownEvent({ type })).toBe(true);
    expect(asUnknownEvent({ type })).toBeUndefined();
  });

  it('knows chat chunks, which have no type', () => {
    expect(isKnownEvent({ choices: [] })).toBe(true);
    expect(isKnownEvent({ error: { message: 'no' } })).toBe(true);
    expect(isKnownEvent({ type: null, choices: [] })).toBe(true);
  });

  it('knows a chat chunk to which a proxy added a type', () => {
    expect(isKnownEvent({ type: 'chunk', choices: [] })).toBe(true);
  });

  it.each([
    'response.progress',
    'message_pause',
    'content_block_hint',
    'image_generation.hint',
    '',
    'toString',
    '__proto__',
  ])('does not know "%s"', (type) => {
    expect(isKnownEvent({ type })).toBe(false);
  });
});

describe('asUnknownEvent', () => {
  it('gives the event itself', () => {
    const event = { type: 'response.progress', percent: 50 };

    expect(asUnknownEvent(event)).toBe(event);
  });
});
