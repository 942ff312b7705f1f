// As in docs/testing.md: Jest hides from tests in jsdom what of Node they need to send requests.
const { TestEnvironment } = require('jest-environment-jsdom');

module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    Object.assign(this.global, { fetch, AbortController, AbortSignal, TextDecoder, TextEncoder });
  }
};
