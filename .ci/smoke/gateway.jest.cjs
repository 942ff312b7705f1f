const requests = require('./gateway-requests.cjs');

requests({
  runner: { afterAll, beforeAll, expect, test },
  library: require('rx-llm'),
  gatewayLibrary: require('rx-llm/gateway'),
  rxjs: require('rxjs'),
});
