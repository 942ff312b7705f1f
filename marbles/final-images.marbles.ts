import { mergeMap, of, Subject, take, tap } from 'rxjs';
import { finalImages, StreamEventError, type StreamedImage } from 'rx-llm';
import { chat, images, marbles, responses } from 'rx-llm/testing';

describe('finalImages', () => {
  // p: a rough version; c, d: completed images
  const values = { p: images.partial('rough'), c: images.completed('image'), d: images.completed('other') };
  const finished = (b64: string, raw: object, index = 0): StreamedImage => ({
    partial: false,
    index,
    b64,
    mediaType: 'image/png',
    size: '1024x1024',
    quality: 'high',
    background: 'opaque',
    raw,
  });
  const seen = { x: finished('image', values.c), y: finished('other', values.d, 1) };

  it(
    'emits each finished image as it comes, and completes with the source',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -p-c-p-d-|');
      const e1subs = '        ^--------!';
      const expected = '      ---x---y-|';

      expectObservable(e1.pipe(finalImages())).toBe(expected, seen);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'emits nothing where no image is finished, or an event holds none',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -p-e-|', { ...values, e: { type: 'image_generation.completed' as const } });
      const e2 = cold('       -----|');
      const subs = '          ^----!';
      const expected = '      -----|';

      expectObservable(e1.pipe(finalImages())).toBe(expected);
      expectObservable(e2.pipe(finalImages())).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(subs);
      expectSubscriptions(e2.subscriptions).toBe(subs);
    }),
  );

  it(
    'passes an error on, after the images that were finished before it',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const error = new StreamEventError('blocked');
      const e1 = cold('       -c-p-#', undefined, error);
      const e1subs = '        ^----!';
      const expected = '      -x---#';

      expectObservable(e1.pipe(finalImages())).toBe(expected, seen, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'unsubscribes from the source when it is unsubscribed from, through a chain as well',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-p-d-|');
      const e1subs = '        ^-!     ';
      const unsub = '         --!     ';
      const expected = '      -x-     ';

      const result = e1.pipe(
        mergeMap((event) => of(event)),
        finalImages(),
        mergeMap((image) => of(image)),
      );
      expectObservable(result, unsub).toBe(expected, seen);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it('stops a synchronous source at once', () => {
    const read: unknown[] = [];
    of(values.p, values.c, values.d)
      .pipe(
        tap((event) => read.push(event)),
        finalImages(),
        take(1),
      )
      .subscribe();

    expect(read).toEqual([values.p, values.c]);
  });

  it('reads an event that comes while another is being delivered', () => {
    const source = new Subject<(typeof values)['c']>();
    const seen: [number, string?][] = [];
    source.pipe(finalImages()).subscribe(({ index, b64 }) => {
      seen.push([index, ...(b64 === undefined ? [] : [b64])] as [number, string?]);
      if (b64 === 'image') source.next(values.d);
    });
    source.next(values.c);

    expect(seen).toEqual([
      [0, 'image'],
      [1, 'other'],
    ]);
  });

  it(
    'reads edits, addresses instead of pictures, and images that a service numbers itself',
    marbles(({ cold, expectObservable }) => {
      const source = {
        a: { type: 'image_edit.completed', b64_json: 'edited' } as const,
        b: { type: 'image_generation.completed', url: 'https://img.example/1' } as const,
        c: { type: 'image_generation.partial_succeeded', image_index: 7, url: 'https://img.example/7' } as const,
      };
      const e1 = cold('       -a-b-c-|', source);
      const expected = '      -x-y-z-|';

      expectObservable(e1.pipe(finalImages())).toBe(expected, {
        x: { partial: false, index: 0, b64: 'edited', raw: source.a },
        y: { partial: false, index: 1, url: 'https://img.example/1', raw: source.b },
        z: { partial: false, index: 7, url: 'https://img.example/7', raw: source.c },
      });
    }),
  );

  it(
    'emits those of the image tool of Responses once, whichever event holds them first',
    marbles(({ cold, expectObservable }) => {
      const call = (id: string, result: string | null) => ({
        type: 'image_generation_call' as const,
        id,
        status: 'completed' as const,
        result,
        output_format: 'webp',
        revised_prompt: 'a tin robot',
      });
      const [one, two] = [call('ig_1', 'image'), call('ig_2', 'other')];
      const other = { type: 'web_search_call', id: 'ws_1', status: 'completed', result: 'no image' } as const;
      const e1 = cold('       -a-b-b-o-c-|', {
        o: responses.itemDone(other, { output_index: 2 }),
        a: responses.itemAdded(call('ig_1', null), { output_index: 1 }),
        b: responses.itemDone(one, { output_index: 1 }),
        c: responses.completed({ output: [other, one, two] }),
      });
      const expected = '      ---x-----y-|';

      const known = { partial: false, mediaType: 'image/webp', revisedPrompt: 'a tin robot' };
      expectObservable(e1.pipe(finalImages())).toBe(expected, {
        x: { ...known, index: 0, b64: 'image', raw: one },
        y: { ...known, index: 1, b64: 'other', raw: two },
      });
    }),
  );

  it(
    'reads the images in the answers of chat models, those of choice 0',
    marbles(({ cold, expectObservable }) => {
      const inline = { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,AAAA' } } as const;
      const linked = { type: 'image_url', image_url: 'https://img.example/1' } as const;
      const plain = { type: 'image_url', image_url: { url: 'data:image/svg+xml,<svg/>' } } as const;
      const e1 = cold('       -a-b-c-d-|', {
        a: chat.delta({ images: [inline] }),
        b: chat.delta({ images: [inline] }, { choice: 1 }),
        c: chat.delta({ content: [{ type: 'text', text: 'Look:' }, linked] }),
        d: chat.delta({ images: [plain] }),
      });
      const expected = '      -x---y-z-|';

      expectObservable(e1.pipe(finalImages())).toBe(expected, {
        x: { partial: false, index: 0, b64: 'AAAA', mediaType: 'image/jpeg', raw: inline },
        y: { partial: false, index: 1, url: 'https://img.example/1', raw: linked },
        z: { partial: false, index: 2, url: 'data:image/svg+xml,<svg/>', mediaType: 'image/svg+xml', raw: plain },
      });
    }),
  );
});
