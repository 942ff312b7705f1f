import { mergeMap, of, Subject, take, tap } from 'rxjs';
import { annotations, StreamEventError, type Annotation } from 'rx-llm';
import { chat, marbles, messages, responses } from 'rx-llm/testing';

describe('annotations', () => {
  const page = (name: string) => ({
    type: 'url_citation' as const,
    url_citation: { url: `https://${name}.example`, title: name, start_index: 4, end_index: 7 },
  });
  const seen = (name: string, choice = 0): Annotation => ({
    type: 'url_citation',
    url: `https://${name}.example`,
    title: name,
    startIndex: 4,
    endIndex: 7,
    choice,
    raw: page(name),
  });
  // t: text; c, d: deltas that cite a page
  const values = { t: chat.text('Tea'), c: chat.annotation(page('tea')), d: chat.annotation(page('cup')) };
  const cited = { x: seen('tea'), y: seen('cup') };

  it(
    'emits each citation as it comes, and completes with the source',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -t-c-d-|');
      const e1subs = '        ^------!';
      const expected = '      ---x-y-|';

      expectObservable(e1.pipe(annotations())).toBe(expected, cited);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'emits nothing where there is none, or what is no annotation',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -a-t-|', { ...values, a: { choices: [{ delta: { annotations: [null, 5, {}] } }] } });
      const e2 = cold('       -----|');
      const subs = '          ^----!';
      const expected = '      -----|';

      expectObservable(e1.pipe(annotations())).toBe(expected);
      expectObservable(e2.pipe(annotations())).toBe(expected);
      expectSubscriptions(e1.subscriptions).toBe(subs);
      expectSubscriptions(e2.subscriptions).toBe(subs);
    }),
  );

  it(
    'passes an error on, after what came before it',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const error = new StreamEventError('overloaded');
      const e1 = cold('       -c-#', undefined, error);
      const e1subs = '        ^--!';
      const expected = '      -x-#';

      expectObservable(e1.pipe(annotations())).toBe(expected, cited, error);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it(
    'unsubscribes from the source when it is unsubscribed from, through a chain as well',
    marbles(values, ({ cold, expectObservable, expectSubscriptions }) => {
      const e1 = cold('       -c-d-t-|');
      const e1subs = '        ^-!     ';
      const unsub = '         --!     ';
      const expected = '      -x-     ';

      const result = e1.pipe(
        mergeMap((event) => of(event)),
        annotations(),
        mergeMap((annotation) => of(annotation)),
      );
      expectObservable(result, unsub).toBe(expected, cited);
      expectSubscriptions(e1.subscriptions).toBe(e1subs);
    }),
  );

  it('stops a synchronous source at once', () => {
    const read: unknown[] = [];
    of(values.c, values.d, values.t)
      .pipe(
        tap((event) => read.push(event)),
        annotations(),
        take(1),
      )
      .subscribe();

    expect(read).toEqual([values.c]);
  });

  it('reads an event that comes while another is being delivered', () => {
    const source = new Subject<(typeof values)['c']>();
    const titles: (string | undefined)[] = [];
    source.pipe(annotations()).subscribe(({ title }) => {
      titles.push(title);
      if (title === 'tea') source.next(values.d);
    });
    source.next(values.c);

    expect(titles).toEqual(['tea', 'cup']);
  });

  it(
    'follows choice 0 of several that interleave, or the one that it is told to',
    marbles(({ cold, expectObservable }) => {
      const n2 = {
        a: chat.annotation(page('tea'), { choice: 0 }),
        b: chat.annotation(page('tea'), { choice: 1 }),
        c: chat.annotation(page('cup'), { choice: 0 }),
        d: chat.annotation(page('pot'), { choice: 1 }),
      };
      const e1 = cold('       -a-b-c-d-|', n2);
      const expected0 = '     -x---y---|';
      const expected1 = '     ---x---y-|';

      expectObservable(e1.pipe(annotations())).toBe(expected0, cited);
      expectObservable(e1.pipe(annotations({ choice: 1 }))).toBe(expected1, { x: seen('tea', 1), y: seen('pot', 1) });
    }),
  );

  it(
    'emits what is repeated once',
    marbles(values, ({ cold, expectObservable }) => {
      const e1 = cold('       -c-c-d-c-|');
      const expected = '      -x---y---|';

      expectObservable(e1.pipe(annotations())).toBe(expected, cited);
    }),
  );

  it(
    'reads lists of sources that grow with the stream, with what the search said of them',
    marbles(({ cold, expectObservable }) => {
      const [tea, cup] = ['https://tea.example', 'https://cup.example'];
      const result = { title: 'Tea', url: tea, date: '2026-01-01' };
      const e1 = cold('       -a-a-b-|', {
        a: chat.text('T', { citations: [tea], search_results: [result] }),
        b: chat.text('ea', { citations: [tea, cup] }),
      });
      const expected = '      -x---y-|';

      const type = 'url_citation';
      expectObservable(e1.pipe(annotations())).toBe(expected, {
        x: { type, url: tea, title: 'Tea', choice: 0, raw: { type, ...result } },
        y: { type, url: cup, choice: 0, raw: { type, url: cup } },
      });
    }),
  );

  it(
    'does not list a source that an annotation has named',
    marbles(values, ({ cold, expectObservable }) => {
      const e1 = cold('       -c-a-|', { ...values, a: chat.finish('stop', { citations: ['https://tea.example'] }) });
      const expected = '      -x---|';

      expectObservable(e1.pipe(annotations())).toBe(expected, cited);
    }),
  );

  it(
    'reads files, and references among the parts of the content',
    marbles(({ cold, expectObservable }) => {
      const file = {
        type: 'file',
        file: { hash: 'abc', name: 'a.pdf', content: [{ type: 'text', text: 'A' }] },
      } as const;
      const reference = { type: 'reference', reference_ids: [1, 2] } as const;
      const e1 = cold('       -a-b-b-|', { a: chat.annotation(file), b: chat.delta({ content: [reference] }) });
      const expected = '      -x-y---|';

      expectObservable(e1.pipe(annotations())).toBe(expected, {
        x: { type: 'file', fileId: 'abc', filename: 'a.pdf', choice: 0, raw: file },
        y: { type: 'reference', choice: 0, raw: reference },
      });
    }),
  );

  it(
    'emits those of Responses once, whichever event holds them first',
    marbles(({ cold, expectObservable }) => {
      const { url_citation, type } = page('tea');
      const url = { type, ...url_citation };
      const file = { type: 'file_citation', file_id: 'file_1', filename: 'a.pdf', index: 9 } as const;
      const message = {
        type: 'message' as const,
        id: 'msg_1',
        role: 'assistant' as const,
        content: [{ type: 'output_text' as const, text: 'Tea', annotations: [url, file] }],
      };
      const part = { type: 'response.content_part.done', output_index: 0, part: message.content[0] } as const;
      const events = {
        a: responses.annotation(url),
        b: responses.itemDone(message),
        c: responses.completed({ output: [message] }),
        d: part,
        e: { ...part, type: 'response.content_part.added' } as const,
        f: responses.itemAdded(message),
      };
      const both: Record<string, Annotation> = {
        x: { ...seen('tea'), raw: url },
        y: { type: 'file_citation', fileId: 'file_1', filename: 'a.pdf', choice: 0, raw: file },
      };
      const e1 = cold('       -a---b-c-|', events);
      const expected1 = '     -x---y---|';
      const e2 = cold('       -b---c---|', events);
      const e3 = cold('       -c-------|', events);
      const e4 = cold('       -d---c---|', events);
      const e5 = cold('       -e---c---|', events);
      const e6 = cold('       -f---c---|', events);
      const expected2 = '     -(xy)----|';

      expectObservable(e1.pipe(annotations())).toBe(expected1, both);
      for (const e of [e2, e3, e4, e5, e6]) expectObservable(e.pipe(annotations())).toBe(expected2, both);
    }),
  );

  it(
    'reads citations of Messages, in deltas and in blocks that have them from the start',
    marbles(({ cold, expectObservable }) => {
      const found = {
        type: 'web_search_result_location',
        url: 'https://tea.example',
        title: 'Tea',
        cited_text: 'Tea is hot.',
        encrypted_index: 'Eo8B',
      } as const;
      const quoted = {
        type: 'char_location',
        cited_text: 'Hot.',
        document_index: 0,
        document_title: 'a.txt',
        start_char_index: 0,
        end_char_index: 4,
      } as const;
      const block = { type: 'text' as const, text: '', citations: [quoted] };
      const e1 = cold('       -s-a-b-t-b-|', {
        s: messages.start({ content: [block] }),
        a: messages.blockStart(block),
        b: messages.annotation(found),
        t: messages.text('Tea'),
      });
      const expected = '      -x-x-y---y-|';

      expectObservable(e1.pipe(annotations())).toBe(expected, {
        x: { type: 'char_location', title: 'a.txt', citedText: 'Hot.', choice: 0, raw: quoted },
        y: {
          type: 'web_search_result_location',
          url: 'https://tea.example',
          title: 'Tea',
          citedText: 'Tea is hot.',
          choice: 0,
          raw: found,
        },
      });
    }),
  );
});
