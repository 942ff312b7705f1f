/* global document -- what waitForFunction() is given runs in the page */
// The example application in headless Chromium, its gateway beside it, and what every test asks of them.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { start } from '../../examples/angular/start.mjs';

const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);
const pictures = fileURLToPath(new URL('../../reports/browser/', import.meta.url));
mkdirSync(pictures, { recursive: true });

// Without a display, as root in a container, and without a word to anyone but this machine.
const flags =
  '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync';

let browser;
export async function launch() {
  assert(executablePath, 'Chromium is not installed; CHROMIUM may say where it is');
  browser = await chromium.launch({ executablePath, args: flags.split(' ') });
}
export const quit = () => browser?.close();

/**
 * Runs `body` with the application in a page of its own. Whatever the page logs as an error fails the test; of the
 * browser's own words about requests that fail, as many are expected as `failures` says. `serve` starts another server of
 * the page, or of another page.  `query` is added to its address.
 */
export function withPage(
  { gateway, failures = 0, query = '', serve = () => start({ gateway }), ...context } = {},
  body,
) {
  return async () => {
    const running = await serve();
    const page = await browser.newPage({ viewport: { width: 1180, height: 820 }, ...context });
    page.setDefaultTimeout(20_000);
    const errors = [];
    let failed = 0;
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      if (message.text().startsWith('Failed to load resource')) failed++;
      else errors.push(message.text());
    });
    try {
      await page.goto(running.url + query);
      await body(new Application(page, running.gateway));
      assert.deepEqual(errors, [], 'the page logged errors');
      assert(failed <= failures, `${failed} requests failed, and not ${failures}`);
    } finally {
      await page.close();
      await running.close();
    }
  };
}

/** What a person does with the page, and sees. */
class Application {
  constructor(page, gateway) {
    this.page = page;
    this.gateway = gateway;
  }

  get question() {
    return this.page.getByRole('textbox', { name: 'Your question' });
  }
  get answer() {
    return this.page.locator('app-answer').last();
  }
  get text() {
    return this.answer.locator('.text');
  }
  get failure() {
    return this.answer.locator('.failure');
  }
  /** The newest request for a stream. */
  get request() {
    return this.gateway.journal.at(-1);
  }

  async choose({ endpoint, transport, thinking, fast, rehearsal }) {
    const { page } = this;
    const settings = page.locator('app-settings-panel summary');
    if (!(await page.getByRole('combobox', { name: 'Rehearse' }).isVisible())) await settings.click();
    if (endpoint) await page.getByRole('radio', { name: endpoint }).check();
    if (transport) await page.getByRole('radio', { name: transport.split(' ')[0], exact: true }).check();
    if (thinking !== undefined) await page.getByRole('checkbox', { name: 'Thinks aloud' }).setChecked(thinking);
    if (fast !== undefined) await page.getByRole('checkbox', { name: 'As fast as it can' }).setChecked(fast);
    if (rehearsal) await page.getByRole('combobox', { name: 'Rehearse' }).selectOption({ label: rehearsal });
  }

  async ask(question) {
    await this.question.fill(question);
    await this.question.press('Enter');
  }

  /** Waits for the last answer to get to a status. */
  async until(status) {
    await this.page.waitForFunction(
      (wanted) => [...document.querySelectorAll('app-answer')].at(-1)?.dataset.status === wanted,
      status,
    );
  }

  async picture(name) {
    await this.page.screenshot({ path: join(pictures, `${name}.png`) });
  }
}
