/* global document, getComputedStyle, innerWidth, location, MutationObserver, requestAnimationFrame -- what page.evaluate() is given runs in the page */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { launch, quit, withPage } from './support.mjs';

const ENDPOINTS = { 'Chat Completions': 'chatCompletions', Responses: 'responses', Messages: 'messages' };
const TRANSPORTS = { HttpClient: '', 'HttpClient over XMLHttpRequest': '?xhr', fetch: '' };
const SAID = 'Grüße aus 京都 — naïve ☕, 😀 & 👩‍👩‍👧!';

before(launch);
after(quit);

for (const [transport, query] of Object.entries(TRANSPORTS)) {
  describe(`by ${transport}`, () => {
    for (const [label, endpoint] of Object.entries(ENDPOINTS)) {
      it(
        `${label} arrives whole, though every character is cut between writes`,
        withPage({ query, gateway: { pace: { writes: 'byte' } } }, async (app) => {
          await app.choose({ endpoint: label, transport, fast: true });
          await app.ask(`Say "${SAID}"`);
          await app.until('done');

          assert.equal(await app.text.textContent(), SAID);
          assert.match(await app.answer.locator('.reasoning p').textContent(), /\w/);
          assert.equal(app.request.endpoint, endpoint);
          assert.equal(app.request.outcome, 'completed');
          // The interceptor's key, or the client's own.
          assert.match(app.request.headers.authorization, /^Bearer \*\*\*mple$/);
        }),
      );
    }

    it(
      'an image sharpens while it is painted',
      withPage({ query }, async (app) => {
        await app.choose({ endpoint: 'Images', transport });
        await app.ask('A lighthouse in the fog');
        await app.page.getByText('Draft 2').waitFor();
        assert.equal(app.request.outcome, 'open');
        await app.picture(`image-draft-${transport.replaceAll(' ', '-')}`);
        await app.until('done');

        await app.page.getByText('Finished').waitFor();
        const picture = app.page.getByRole('img', { name: 'The finished picture' });
        assert.equal(await picture.evaluate(async (img) => (await img.decode(), img.naturalWidth)), 512);
        await app.picture(`image-${transport.replaceAll(' ', '-')}`);
      }),
    );

    it(
      'tokens are shown while the server still sends',
      withPage({ query }, async (app) => {
        await app.choose({ transport, thinking: false });
        await app.ask('Write a detailed essay about rivers');
        const lengths = [];
        for (let i = 0; i < 3; i++) {
          await app.page.waitForFunction(
            (more) => document.querySelector('.text')?.textContent.length > more,
            lengths.at(-1) ?? 0,
          );
          lengths.push((await app.text.textContent()).length);
          assert.equal(app.request.outcome, 'open');
        }

        assert(lengths[0] < lengths[1] && lengths[1] < lengths[2], `${lengths}`);
      }),
    );

    it(
      'stopping closes the connection at the server, and keeps the text',
      withPage({ query, failures: 1 }, async (app) => {
        await app.choose({ transport, thinking: false });
        await app.ask('Write a detailed essay about rivers');
        await app.text.filter({ hasText: /\w+ \w+ \w+/ }).waitFor();
        await app.page.getByRole('button', { name: 'Stop' }).click();
        await app.until('stopped');
        const text = await app.text.textContent();
        await app.gateway.idle();

        assert.equal(app.request.outcome, 'hung-up');
        assert(app.request.tokensDelivered < app.request.tokensPlanned / 2);
        await app.page.waitForTimeout(200);
        assert.equal(await app.text.textContent(), text);
        await app.picture(`stopped-${transport.replaceAll(' ', '-')}`);
      }),
    );

    it(
      'a refusal is read to its end, and told',
      withPage({ query, failures: 1 }, async (app) => {
        await app.choose({ transport, rehearsal: 'Rate limited, for too long' });
        await app.ask('Hello?');
        await app.until('failed');

        assert.match(await app.failure.textContent(), /The gateway refused the question/);
        await app.failure.getByText('Details').click();
        assert.match(await app.failure.locator('code').textContent(), /answered 429: \w/);
        assert.equal(app.gateway.journal.length, 1);
        await app.picture(`refused-${transport.replaceAll(' ', '-')}`);
      }),
    );

    it(
      'a connection that breaks keeps the text, and asking again succeeds',
      withPage({ query, failures: 1 }, async (app) => {
        await app.choose({ transport, thinking: false, rehearsal: 'The connection breaks' });
        await app.ask('Why does the sea have tides?');
        await app.until('failed');
        assert.match(await app.failure.textContent(), /The connection broke\. What came before stays\./);
        assert((await app.text.textContent()).length > 40);
        await app.picture(`broken-${transport.replaceAll(' ', '-')}`);

        await app.choose({ rehearsal: 'Nothing: all goes well', fast: true });
        await app.page.getByRole('button', { name: 'Ask again' }).click();
        await app.until('done');
        assert.equal(await app.page.locator('app-answer').count(), 1);
      }),
    );

    it(
      'a busy gateway is asked again before the first token, under one idempotency key, and the page says so',
      withPage({ query, failures: 2 }, async (app) => {
        await app.choose({ transport, rehearsal: 'Busy twice, then an answer' });
        await app.ask('Why does the sea have tides?');
        const status = app.page.getByRole('status');
        await status.filter({ hasText: /The gateway is busy\. Trying again in \d\.\d s \(retry 1\)/ }).waitFor();
        await app.picture(`retry-${transport.replaceAll(' ', '-')}`);
        await app.until('done');

        const { journal } = app.gateway;
        assert.deepEqual(
          journal.map(({ status }) => status),
          [503, 503, 200],
        );
        assert.equal(new Set(journal.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
      }),
    );

    it(
      '20,000 tokens are rendered within the budget of frames',
      withPage({ query }, async (app) => {
        await app.choose({ transport, thinking: false, fast: true });
        await app.page.evaluate(watchFrames);
        const started = Date.now();
        await app.ask('Write 16000 words about rivers');
        await app.until('done');
        const took = Date.now() - started;
        const { frames, writes, longest, slowest } = await app.page.evaluate(() => globalThis.frames20k());
        const length = (await app.text.textContent()).length;
        const { tokensDelivered } = app.request;
        console.log(
          `    ${transport}: ${tokensDelivered} tokens, ${length} characters, ${took} ms, ${frames.length} frames, ` +
            `95th percentile ${at(frames, 0.95)} ms, slowest ${slowest} ms, ${writes} DOM writes`,
        );

        assert(tokensDelivered >= 20_000, `${tokensDelivered} tokens`);
        assert(length > 80_000, `${length} characters`);
        assert(took < 20_000, `took ${took} ms`);
        // A write for each token would be 20,000; one text node would be laid out as a whole in each frame.
        assert(writes < 3 * frames.length + 200, `${writes} DOM writes in ${frames.length} frames`);
        assert(longest > 0 && longest < 4100, `a write of ${longest} characters`);
        assert(at(frames, 0.95) < 100, `95 % of frames within ${at(frames, 0.95)} ms`);
        assert(slowest < 500, `the slowest frame took ${slowest} ms`);
      }),
    );
  });
}

it(
  'tools are called as their arguments arrive, run, and answered from',
  withPage({}, async (app) => {
    for (const endpoint of Object.keys(ENDPOINTS)) {
      await app.choose({ endpoint, thinking: endpoint === 'Responses' });
      await app.ask('Check the weather in Lisbon and Oslo');
      const written = app.page.locator('.turn').last().locator('app-tool-call');
      await written.filter({ hasText: 'being written' }).first().waitFor();
      if (endpoint === 'Messages') await app.picture('tools-live');
      await app.text.filter({ hasText: /Oslo/ }).waitFor();
      await app.until('done');

      assert.equal(await written.count(), 2);
      assert.match(await written.first().textContent(), /done/);
    }
    await app.picture('tools');
  }),
);

it(
  'an answer that stalls is given up, with what has come',
  withPage({}, async (app) => {
    await app.choose({ thinking: false, fast: true, rehearsal: 'The answer stalls' });
    await app.ask('Why does the sea have tides?');
    await app.until('failed');

    assert.match(await app.failure.textContent(), /The answer took too long\. What came before stays\./);
  }),
);

describe('for everyone', () => {
  it(
    'all can be done by keyboard',
    withPage({ failures: 1 }, async (app) => {
      const { page } = app;
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the question');
      await page.keyboard.press('Enter');
      assert.equal(await page.evaluate(() => location.hash), '#question');
      await app.question.focus();
      await page.keyboard.type('Two');
      await page.keyboard.press('Shift+Enter');
      await page.keyboard.type('lines, and a detailed essay');
      await page.keyboard.press('Enter');

      await app.text.filter({ hasText: /\w/ }).waitFor();
      assert.equal(await page.locator('.question').textContent(), 'You asked: Two\nlines, and a detailed essay');
      assert.equal(await app.question.inputValue(), '');
      assert(await app.question.evaluate((box) => box === document.activeElement), 'the focus stays');
      await page.keyboard.press('Escape');
      await app.until('stopped');
    }),
  );

  it(
    'those who listen are told what begins and ends, and not each token',
    withPage({}, async (app) => {
      const log = app.page.getByRole('log', { name: 'Answers' });
      const status = app.page.getByRole('status');
      await app.choose({ thinking: false });
      await app.ask('Why does the sea have tides?');

      await status.filter({ hasText: 'The answer is arriving.' }).waitFor();
      assert.equal(await log.getAttribute('aria-live'), 'polite');
      assert.equal(await log.getAttribute('aria-busy'), 'true');
      await status.filter({ hasText: 'The answer is complete.' }).waitFor();
      assert.equal(await log.getAttribute('aria-busy'), 'false');
    }),
  );

  it(
    'every control has a name, every group a legend, every picture an alternative, and the page one first heading',
    withPage({}, async (app) => {
      const nameless = await app.page.evaluate(() =>
        [...document.querySelectorAll('button, input, textarea, select, fieldset, img, [role=region], [role=log]')]
          .filter(
            (element) =>
              !(
                element.textContent.trim() ||
                element.getAttribute('aria-label') ||
                element.getAttribute('alt') ||
                element.labels?.length
              ),
          )
          .map((element) => element.outerHTML),
      );

      assert.deepEqual(nameless, []);
      assert.equal(await app.page.getByRole('heading', { level: 1 }).count(), 1);
      assert.equal(await app.page.getByRole('main').count(), 1);
      assert.equal(await app.page.evaluate(() => document.documentElement.lang), 'en');
    }),
  );

  for (const [name, context] of Object.entries({
    light: {},
    dark: { colorScheme: 'dark' },
    narrow: { viewport: { width: 400, height: 780 } },
  })) {
    it(
      `texts have enough contrast and nothing overflows: ${name}`,
      withPage({ ...context, failures: 1 }, async (app) => {
        await app.picture(`empty-${name}`);
        await app.choose({ fast: true });
        await app.ask('Check the weather in Lisbon and Oslo');
        await app.text.filter({ hasText: /Oslo/ }).waitFor();
        await app.until('done');
        await app.choose({ rehearsal: 'The connection breaks', thinking: false });
        await app.ask('静かな朝について、詩を書いてください');
        await app.until('failed');
        await app.picture(`conversation-${name}`);

        assert.deepEqual(await app.page.evaluate(poorContrast), []);
        const [scroll, width] = await app.page.evaluate(() => [document.body.scrollWidth, innerWidth]);
        assert(scroll <= width, `the page is ${scroll} wide on a screen of ${width}`);
      }),
    );
  }
});

const at = (numbers, share) => numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) * share)];

/** In the page: counts frames and changes of the text. */
function watchFrames() {
  const frames = [];
  let writes = 0;
  let last = performance.now();
  let on = true;
  let longest = 0;
  const observer = new MutationObserver((records) => {
    writes += records.length;
    for (const { type, target } of records) {
      if (type === 'characterData' && target.parentElement?.closest('.text')) {
        longest = Math.max(longest, target.data.length);
      }
    }
  });
  observer.observe(document.querySelector('.log'), { childList: true, characterData: true, subtree: true });
  requestAnimationFrame(function frame(now) {
    frames.push(Math.round(now - last));
    last = now;
    if (on) requestAnimationFrame(frame);
  });
  globalThis.frames20k = () => {
    on = false;
    observer.disconnect();
    return { frames, writes, longest, slowest: Math.max(...frames) };
  };
}

/** In the page: texts whose contrast to their background is below 4.5, with it. */
function poorContrast() {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [R, G, B] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * R + 0.7152 * G + 0.0722 * B;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = channels(getComputedStyle(e).backgroundColor);
      if ((color[3] ?? 1) > 0) return color;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('body *')]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .filter((element) => !element.closest('[disabled], option, .skip, .visually-hidden'))
    .map((element) => {
      const [a, b] = [channels(getComputedStyle(element).color), behind(element)].map(luminance);
      return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), element.className || element.localName];
    })
    .filter(([contrast]) => contrast < 4.5)
    .map(([contrast, name]) => `${name}: ${contrast.toFixed(2)}`);
}
