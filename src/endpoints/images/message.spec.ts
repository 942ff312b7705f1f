import { imagesMessage } from './message.js';
import type { ImagesResult } from './wire.js';

function snapshots(...events: object[]): ImagesResult[] {
  const seen: ImagesResult[] = [];
  const reader = imagesMessage({ snapshot: (message) => seen.push(message as ImagesResult) });
  for (const event of events) reader.next(event as never);
  reader.end?.();
  return seen;
}

const completed = (fields: object): object => ({ type: 'image_generation.completed', ...fields });

describe('imagesMessage', () => {
  it('lists the final images, and says of all what is said with the last', () => {
    const first = { b64_json: 'a', created_at: 5, size: '1x1', usage: null };
    const second = { b64_json: 'b', created_at: 6, size: '1x1', usage: { total_tokens: 3 }, safety_identifier: 's' };

    expect(snapshots(completed(first), completed(second)).at(-1)).toEqual({
      created: 6,
      size: '1x1',
      usage: { total_tokens: 3 },
      data: [{ b64_json: 'a' }, { b64_json: 'b' }],
    });
  });

  it('reads edits, addresses, and the other name of the time', () => {
    const event = { type: 'image_edit.completed', created: 5, url: 'https://a/b', media_type: 'image/png' };

    expect(snapshots(event)).toEqual([{ created: 5, data: [{ url: 'https://a/b', media_type: 'image/png' }] }]);
  });

  it('says nothing of partial images, of words and of what it does not know', () => {
    const types = ['image_generation.partial_image', 'image_generation.text_chunk', 'image_generation.hint', 'error'];

    expect(snapshots(...types.map((type) => ({ type, b64_json: 'a' })), { type: 5 }, {})).toEqual([]);
  });

  it('keeps the identity of images that came before', () => {
    const [one, two] = snapshots(
      completed({ b64_json: 'a', usage: { total_tokens: 3 } }),
      completed({ b64_json: 'b', usage: { total_tokens: 3 } }),
    );

    expect(two?.data[0]).toBe(one?.data[0]);
    expect(two?.usage).toBe(one?.usage);
    expect(one?.data).toHaveLength(1);
  });
});
