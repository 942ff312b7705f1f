import { mergeMap, of, Subject, take, tap } from 'rxjs';
import { partialImages, StreamEventError, type StreamedImage } from 'rx-llm';
import { images, marbles, responses } from 'rx-llm/testing';

describe('partialImages', () => {
  // p, q: rough versions; c: the completed image
  const values = { p: images.partial('rough', 0), q: images.partial('finer', 1), c: images.completed('image') };
  const rough = (b64: string, partialIndex: number, raw: object, index = 0): StreamedImage => ({
    partial: true,
    index,
    partialIndex,
    b64,
    mediaType: 'image/png',
    size: '1024x1024',
    quality: 'high',
    background: 'opaque',
    raw,
  });
  const seen = { x: rough('rough', 0, values.p), y: rough('finer', 1, values.q) };

  it(
    'emits each rough version as it forms, and completes with the source',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -p-q-c-|');
      const e1subs = '        ^------!';
      const expected = '      -x-y---|';

      expectObservable(e1.pipe(partialImages())).toBe(expected, seen);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'emits nothing where the image comes at once, or none does',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-|');
      const e2 = cold('       ---|');
      const subs = '          ^--!';
      const expected = '      ---|';

      expectObservable(e1.pipe(partialImages())).toBe(expected);
      expectObservable(e2.pipe(partialImages())).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(subs);
      expectSubscriptions(e2.subscriptions).toBe(subs);
    }),
  );

  it(
    'passes an error on, after what came before it',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const error = new StreamEventError('blocked');
      const e1 = cold('       -p-#', undefined, error);
      const e1subs = '        ^--!';
      const expected = '      -x-#';

      expectObservable(e1.pipe(partialImages())).toBe(expected, seen, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'unsubscribes from the source when it is unsubscribed from, through a chain as well',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -p-q-c-|');
      const e1subs = '        ^-!     ';
      const unsub = '         --!     ';
      const expected = '      -x-     ';

      const result = e1.pipe(
        mergeMap((event) => of(event)),
        partialImages(),
        mergeMap((image) => of(image)),
      );
      expectObservable(result, unsub).toBe(expected, seen);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it('stops a synchronous source at once', () => {
    const read: unknown[] = [];
    of(values.p, values.q, values.c)
      .pipe(
        tap((event) => read.push(event)),
        partialImages(),
        take(1),
      )
      .subscribe();

    expect(read).toEqual([values.p]);
  });

  it('reads an event that comes while another is being delivered', () => {
    const source = new Subject<(typeof values)['p']>();
    const seen: (string | undefined)[] = [];
    source.pipe(partialImages()).subscribe(({ b64 }) => {
      seen.push(b64);
      if (b64 === 'rough') source.next(values.q);
    });
    source.next(values.p);

    expect(seen).toEqual(['rough', 'finer']);
  });

  it(
    'tells several images apart by what is completed between them',
    marbles(values, ({ cold, expectObservable }) => {
      const e1 = cold('       -p-c-q-c-|');
      const expected = '      -x---y---|';

      expectObservable(e1.pipe(partialImages())).toBe(expected, { x: seen.x, y: rough('finer', 1, values.q, 1) });
    }),
  );

  it(
    'reads the image tool of Responses, whose images may interleave',
    marbles(({ cold, expectObservable }) => {
      const source = {
        a: responses.partialImage('rough', 0, { output_index: 2 }),
        b: responses.partialImage('other', 0, { output_index: 5 }),
        c: responses.partialImage('finer', 1, { output_index: 2 }),
      };
      const e1 = cold('       -a-b-c-|', source);
      const expected = '      -x-y-z-|';

      expectObservable(e1.pipe(partialImages())).toBe(expected, {
        x: { partial: true, index: 0, partialIndex: 0, b64: 'rough', raw: source.a },
        y: { partial: true, index: 1, partialIndex: 0, b64: 'other', raw: source.b },
        z: { partial: true, index: 0, partialIndex: 1, b64: 'finer', raw: source.c },
      });
    }),
  );
});
