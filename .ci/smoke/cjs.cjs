const rxjs = require('rxjs');
const rxLlm = require('rx-llm');

import('./program.js').then(({ program }) => program({ rxLlm, rxjs }));
