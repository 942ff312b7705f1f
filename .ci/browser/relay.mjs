// The whole way: Chromium, the NestJS relay of examples/nest, the gateway. What is cut at one hop is over at all of them,
// and the gateway's journal says what it cost.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { start } from '../../examples/angular/start.mjs';
import { createApp } from '../../examples/nest/dist/src/create-app.js';
import { startGateway } from '../../dist/esm/gateway/index.js';
import { launch, quit, withPage } from './support.mjs';

before(launch);
after(quit);

/** The gateway, the relay before it, and the Angular application, whose gateway is the relay; or the relay's own page. */
const hops =
  ({ ownPage = false, ...options } = {}) =>
  async () => {
    const gateway = await startGateway({ pace: { ttftMs: 50, tokensPerSecond: 100 }, ...options });
    const relay = await createApp({ baseUrl: gateway.url });
    await relay.listen(0, '127.0.0.1');
    const address = await relay.getUrl();
    const page = ownPage ? { url: address, close() {} } : await start({ baseUrl: `${address}/v1` });
    const close = () => Promise.all([page.close(), relay.close()]).then(() => gateway.close());
    return { url: page.url, gateway: Object.assign(gateway, { relay }), close };
  };

const ESSAY = 'Write a detailed essay about rivers';
const started = (app) => app.text.filter({ hasText: /\w+ \w+ \w+/ }).waitFor();

/** The one request has ended with its reader gone, and is billed for what was delivered. */
async function assertAborted({ gateway }) {
  await gateway.idle();
  assert.equal(gateway.journal.length, 1);
  const [{ outcome, tokensDelivered, tokensPlanned, billed }] = gateway.journal;
  assert.equal(outcome, 'hung-up');
  assert(tokensDelivered < tokensPlanned / 2, `${tokensDelivered} of ${tokensPlanned}`);
  assert.equal(billed?.outputTokens ?? 0, tokensDelivered);
  return tokensDelivered;
}

for (const transport of ['HttpClient', 'fetch']) {
  describe(`the Angular application by ${transport}, through the relay`, () => {
    it(
      'reads every endpoint to its end',
      withPage({ serve: hops() }, async (app) => {
        for (const [index, endpoint] of ['Chat Completions', 'Responses', 'Messages', 'Images'].entries()) {
          await app.choose({ endpoint, transport, fast: true });
          await app.ask(endpoint === 'Images' ? 'A lighthouse' : 'Say "Grüße aus 京都 😀"');
          await app.page.locator('.turn').nth(index).waitFor();
          await app.until('done');
          if (endpoint !== 'Images') assert.equal(await app.text.textContent(), 'Grüße aus 京都 😀');
        }
        assert.deepEqual(
          app.gateway.journal.map(({ endpoint, outcome }) => `${endpoint} ${outcome}`),
          ['chatCompletions completed', 'responses completed', 'messages completed', 'images completed'],
        );
        await app.picture(`relay-${transport}`);
      }),
    );

    it(
      'stopping in the middle ends the request at the gateway, and the bill',
      withPage({ serve: hops(), failures: 1 }, async (app) => {
        await app.choose({ transport, thinking: false });
        await app.ask(ESSAY);
        await started(app);
        await app.page.getByRole('button', { name: 'Stop' }).click();
        await app.until('stopped');

        assert((await assertAborted(app)) > 0);
      }),
    );

    it(
      'stopping before anything has come costs nothing',
      withPage({ serve: hops(), failures: 1 }, async (app) => {
        await app.choose({ transport });
        // What the page rehearses would come first.
        app.gateway.script('stall=headers');
        await app.page.route('**/v1/**', (route) => {
          const headers = route.request().headers();
          delete headers['x-gateway-fault'];
          return route.continue({ headers });
        });
        await app.ask(ESSAY);
        await app.page.getByRole('button', { name: 'Stop' }).waitFor();
        while (app.gateway.journal.length === 0) await app.page.waitForTimeout(10);
        await app.page.getByRole('button', { name: 'Stop' }).click();
        await app.until('stopped');

        assert.equal(await assertAborted(app), 0);
      }),
    );

    it(
      'leaving the page is no other than stopping',
      withPage({ serve: hops(), failures: 1 }, async (app) => {
        await app.choose({ transport, thinking: false });
        await app.ask(ESSAY);
        await started(app);
        await app.page.goto('about:blank');

        assert((await assertAborted(app)) > 0);
      }),
    );

    it(
      'when the relay goes down, the text stays, and the gateway is told',
      withPage({ serve: hops(), failures: 1 }, async (app) => {
        await app.choose({ transport, thinking: false });
        await app.ask(ESSAY);
        await started(app);
        await app.gateway.relay.close();
        await app.until('failed');

        assert((await app.text.textContent()).length > 10);
        assert.match(await app.failure.textContent(), /The connection broke\. What came before stays\./);
        assert((await assertAborted(app)) > 0);
      }),
    );

    it(
      'when the gateway breaks off, the page hears of it in the stream',
      withPage({ serve: hops() }, async (app) => {
        await app.choose({ transport, thinking: false, rehearsal: 'The connection breaks' });
        await app.ask(ESSAY);
        await app.until('failed');

        assert((await app.text.textContent()).length > 40);
        assert.equal(app.request.outcome, 'broken');
      }),
    );

    it(
      'a busy gateway is asked again by the page, under one idempotency key that the relay hands on',
      withPage({ serve: hops(), failures: 2 }, async (app) => {
        await app.choose({ transport, fast: true, rehearsal: 'Busy twice, then an answer' });
        await app.ask('Say "third time lucky"');
        await app.until('done');

        assert.deepEqual(
          app.gateway.journal.map(({ status, attempt }) => `${status} ${attempt}`),
          ['503 1', '503 2', '200 3'],
        );
      }),
    );

    it(
      'a refusal keeps its status and says when to come again',
      withPage({ serve: hops(), failures: 1 }, async (app) => {
        await app.choose({ transport, rehearsal: 'Rate limited, for too long' });
        await app.ask('Hello?');
        await app.until('failed');

        await app.failure.getByText('Details').click();
        assert.match(await app.failure.locator('code').textContent(), /answered 429: \w/);
        assert.equal(app.gateway.journal.length, 1);
      }),
    );
  });
}

describe('the relay’s own page, by EventSource', () => {
  const ownPage = (options) => ({ serve: hops({ ownPage: true, ...options }) });
  const output = ({ page }) => page.locator('output');
  const status = ({ page }) => page.getByRole('status');
  const ask = async ({ page }, prompt) => {
    await page.getByRole('textbox', { name: 'Your question' }).fill(prompt);
    await page.getByRole('button', { name: 'Ask' }).click();
  };

  it(
    'shows an answer, and asks once',
    withPage(ownPage(), async (app) => {
      await ask(app, 'Say "Grüße aus 京都"');
      await status(app).filter({ hasText: 'Done.' }).waitFor();

      assert.equal(await output(app).textContent(), 'Grüße aus 京都');
      await app.page.waitForTimeout(4000);
      assert.equal(app.gateway.journal.length, 1);
      await app.picture('relay-own-page');
    }),
  );

  it(
    'stopping ends the request at the gateway, and the bill',
    withPage(ownPage(), async (app) => {
      await ask(app, ESSAY);
      await output(app)
        .filter({ hasText: /\w+ \w+ \w+/ })
        .waitFor();
      await app.page.getByRole('button', { name: 'Stop' }).click();

      assert((await assertAborted(app)) > 0);
    }),
  );

  it(
    'a failure in the middle is told, and one before the stream a refusal',
    withPage({ ...ownPage({ script: ['reset=10', '429'] }), failures: 1 }, async (app) => {
      await ask(app, ESSAY);
      await status(app)
        .filter({ hasText: /The answer broke off before it was complete/ })
        .waitFor();
      assert((await output(app).textContent()).length > 10);

      await ask(app, ESSAY);
      await status(app).filter({ hasText: 'The answer broke off, or was refused.' }).waitFor();
      assert.equal(app.gateway.journal.length, 2);
    }),
  );
});
