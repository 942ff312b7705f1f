import { isToken } from 'rx-llm';

type Row = readonly [fact: string, event: unknown];

const delta = (fields: object): object => ({ choices: [{ index: 0, delta: fields }] });
const message = (fields: object): object => ({ choices: [{ index: 0, message: fields }] });
const call = (fields: object): object => delta({ tool_calls: [{ index: 0, ...fields }] });
const item = (fields: object): object => ({ type: 'response.output_item.added', output_index: 0, item: fields });
const block = (fields: object): object => ({ type: 'content_block_start', index: 0, content_block: fields });
const blockDelta = (fields: object): object => ({ type: 'content_block_delta', index: 0, delta: fields });
const messageStart = (...content: object[]): object => ({ type: 'message_start', message: { content } });

describe('isToken', () => {
  describe.each<[endpoint: string, tokens: readonly Row[], silent: readonly Row[]]>([
    [
      'chat completions',
      [
        ['text', delta({ content: 'Hi' })],
        ['text in parts', delta({ content: [{ type: 'text', text: 'Hi' }] })],
        ['a part with text after one without', delta({ content: [{ text: '' }, { text: 'Hi' }] })],
        ['a part that is no text', delta({ content: [{ type: 'thinking', thinking: [] }] })],
        ['the text of a whole message', message({ content: 'Hi' })],
        [
          'text of the second choice',
          {
            choices: [
              { index: 0, delta: {} },
              { index: 1, delta: { content: 'Hi' } },
            ],
          },
        ],
        ['reasoning', delta({ reasoning: 'Hm' })],
        ['reasoning under its other name', delta({ reasoning_content: 'Hm' })],
        ['reasoning details', delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] })],
        ['a refusal', delta({ refusal: 'No' })],
        ['the id of a call', call({ id: 'call_1' })],
        ['the name of a call', call({ function: { name: 'look' } })],
        ['the arguments of a call', call({ function: { arguments: '{' } })],
        ['arguments that are an object', call({ function: { arguments: {} } })],
        ['the input of a custom call', call({ custom: { input: 'x' } })],
        ['a call after one that says nothing', delta({ tool_calls: [{ index: 0 }, { index: 1, id: 'call_1' }] })],
        ['a call of the old kind', delta({ function_call: { name: 'look' } })],
        ['an image', delta({ images: [{ image_url: { url: 'data:' } }] })],
        ['a tool that the server ran', delta({ executed_tools: [{ index: 0 }] })],
        ['the sound of an audio', delta({ audio: { data: 'AAAA' } })],
        ['the transcript of an audio', delta({ audio: { transcript: 'Hi' } })],
        ['an object of unknown shape', { usage_estimate: 3 }],
        ['an object of another kind', { object: 'chat.completion.sources', sources: [] }],
        ['a value that is no object', 'text'],
        ['null', null],
      ],
      [
        ['the role', delta({ role: 'assistant', content: '' })],
        [
          'empty text, reasoning and refusal',
          delta({ content: '', reasoning: '', reasoning_content: '', refusal: '' }),
        ],
        ['parts without text', delta({ content: [{ type: 'text', text: '' }] })],
        ['no content', delta({ content: null, tool_calls: null, audio: null })],
        ['calls that say nothing', call({ id: '', function: { name: '', arguments: null } })],
        ['a call whose fields are null', call({ id: null, function: null, custom: null })],
        ['empty lists', delta({ tool_calls: [], reasoning_details: [], images: [], executed_tools: [] })],
        ['an audio without sound', delta({ audio: { id: 'audio_1', data: '', transcript: '' } })],
        ['a finish reason', { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }],
        ['no choice', { choices: [] }],
        ['null for the choices', { choices: null }],
        ['usage', { usage: { total_tokens: 3 } }],
        ['usage of a vendor', { x_groq: { id: 'req_1' } }],
        ['an error', { error: { message: 'overloaded' } }],
        ['an error by its kind', { object: 'error', message: 'overloaded' }],
        ['an error by its code', { code: 500, message: 'overloaded' }],
        ['an error by its finish reason', { finish_reason: 'error' }],
        ['an empty chunk', { object: 'chat.completion.chunk' }],
      ],
    ],
    [
      'responses',
      [
        ['text', { type: 'response.output_text.delta', delta: 'Hi' }],
        ['whole text', { type: 'response.output_text.done', text: 'Hi' }],
        ['a refusal', { type: 'response.refusal.delta', delta: 'No' }],
        ['a whole refusal', { type: 'response.refusal.done', refusal: 'No' }],
        ['reasoning', { type: 'response.reasoning_text.delta', delta: 'Hm' }],
        ['reasoning whose delta is an object', { type: 'response.reasoning.delta', delta: { text: 'Hm' } }],
        ['a summary of reasoning', { type: 'response.reasoning_summary_text.delta', delta: 'Hm' }],
        ['sound', { type: 'response.audio.delta', delta: 'AAAA' }],
        ['a transcript', { type: 'response.audio.transcript.delta', delta: 'Hi' }],
        ['a whole transcript', { type: 'response.audio.transcript.done', transcript: 'Hi' }],
        ['a message with text', item({ type: 'message', content: [{ text: '' }, { text: 'Hi' }] })],
        ['reasoning with a summary', item({ type: 'reasoning', summary: [{ text: 'Hm' }] })],
        ['reasoning that is encrypted', item({ type: 'reasoning', encrypted_content: 'x' })],
        ['a call', item({ type: 'function_call', arguments: '' })],
        ['a tool that the server runs', item({ type: 'web_search_call' })],
        ['a finished item', { type: 'response.output_item.done', item: { type: 'function_call' } }],
        ['the arguments of a call', { type: 'response.function_call_arguments.delta', delta: '' }],
        ['a part with text', { type: 'response.content_part.added', part: { text: 'Hi' } }],
        ['a finished part', { type: 'response.content_part.done', part: { text: 'Hi' } }],
        ['a part of a summary', { type: 'response.reasoning_summary_part.added', part: { text: 'Hm' } }],
        ['a finished part of a summary', { type: 'response.reasoning_summary_part.done', part: { text: 'Hm' } }],
        ['a part of reasoning', { type: 'response.reasoning_part.added', part: { text: 'Hm' } }],
        ['a finished part of reasoning', { type: 'response.reasoning_part.done', part: { text: 'Hm' } }],
        ['the final object with an item', { type: 'response.completed', response: { output: [{ type: 'x' }] } }],
        ['a cut one with an item', { type: 'response.incomplete', response: { output: [{ type: 'x' }] } }],
        ['an older one with an item', { type: 'response.done', response: { output: [{ type: 'x' }] } }],
        ['a type of tomorrow', { type: 'response.hologram.delta' }],
        ['a type of tomorrow that resembles another', { type: 'response.output_text.deltas', delta: '' }],
        ['a type of tomorrow around another', { type: 'response.x.response.output_text.delta', delta: '' }],
      ],
      [
        ['the start', { type: 'response.created', response: { output: [{ type: 'x' }] } }],
        ['the queue', { type: 'response.queued' }],
        ['progress', { type: 'response.in_progress' }],
        ['a keepalive', { type: 'keepalive' }],
        ['a failure', { type: 'response.failed', response: { output: [{ type: 'x' }] } }],
        ['empty text', { type: 'response.output_text.delta', delta: '' }],
        ['an empty summary', { type: 'response.reasoning_summary_text.done', text: '' }],
        ['an empty transcript', { type: 'response.audio.transcript.delta', delta: '' }],
        ['silence', { type: 'response.output_audio.delta', delta: '' }],
        ['a message that is announced', item({ type: 'message', content: [] })],
        ['reasoning that is announced', item({ type: 'reasoning', summary: [], encrypted_content: '' })],
        ['a part that is announced', { type: 'response.content_part.added', part: { type: 'output_text', text: '' } }],
        ['a part of reasoning that is announced', { type: 'response.reasoning_part.added', part: { text: '' } }],
        ['the final object without items', { type: 'response.completed', response: { output: [] } }],
        ['a final object of empty items', { type: 'response.incomplete', response: { output: [{ type: 'message' }] } }],
        ['a final event without an object', { type: 'response.done' }],
      ],
    ],
    [
      'messages',
      [
        ['text', blockDelta({ type: 'text_delta', text: 'Hi' })],
        ['thinking', blockDelta({ type: 'thinking_delta', thinking: 'Hm' })],
        ['the signature of hidden thinking', blockDelta({ type: 'signature_delta', signature: 'x' })],
        ['the input of a call, empty as it may be', blockDelta({ type: 'input_json_delta', partial_json: '' })],
        ['a delta of tomorrow', blockDelta({ type: 'hologram_delta' })],
        ['a text block that begins with text', block({ type: 'text', text: 'Hi' })],
        ['a thinking block that begins with it', block({ type: 'thinking', thinking: 'Hm' })],
        ['a call', block({ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} })],
        ['a tool that the server runs', block({ type: 'server_tool_use' })],
        ['redacted thinking', block({ type: 'redacted_thinking', data: 'x' })],
        ['a start with text', messageStart({ type: 'text', text: '' }, { type: 'text', text: 'Hi' })],
        ['an event of tomorrow', { type: 'message_hologram' }],
      ],
      [
        ['the start', messageStart()],
        ['a start with an empty block', messageStart({ type: 'text', text: '' })],
        ['an empty text block', block({ type: 'text', text: '' })],
        ['an empty thinking block', block({ type: 'thinking', thinking: '' })],
        ['empty text', blockDelta({ type: 'text_delta', text: '' })],
        ['empty thinking', blockDelta({ type: 'thinking_delta', thinking: '' })],
        ['an empty signature', blockDelta({ type: 'signature_delta', signature: '' })],
        ['the end of a block', { type: 'content_block_stop', index: 0 }],
        ['the stop reason', { type: 'message_delta', delta: { stop_reason: 'end_turn' } }],
        ['the end', { type: 'message_stop' }],
        ['a ping', { type: 'ping' }],
      ],
    ],
    [
      'images',
      [
        ['a partial image', { type: 'image_generation.partial_image', b64_json: 'aG8=' }],
        ['a whole image', { type: 'image_generation.completed', b64_json: 'aG8=' }],
        ['an edited one', { type: 'image_edit.partial_image', b64_json: 'aG8=' }],
        ['words beside the image', { type: 'image_generation.text_chunk', text: 'Hi' }],
        ['an event of tomorrow', { type: 'image_generation.hologram' }],
      ],
      [['no words', { type: 'image_generation.text_chunk', text: '' }]],
    ],
    ['no endpoint', [['an event that names none', { type: 'hologram' }]], [['an error', { type: 'error' }]]],
  ])('of %s', (_endpoint, tokens, silent) => {
    it.each(tokens)('is true of %s', (_fact, event) => {
      expect(isToken(event)).toBe(true);
    });

    it.each(silent)('is false of %s', (_fact, event) => {
      expect(isToken(event)).toBe(false);
    });
  });
});
