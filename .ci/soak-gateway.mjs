// The gateway of a soak, in a thread of its own: what it remembers is not what the client holds.
import { parentPort, workerData } from 'node:worker_threads';
import { startGateway } from '../dist/esm/gateway/index.js';

const gateway = await startGateway({ journalLimit: 100, seed: workerData.seed });
parentPort.once('message', () => void gateway.close());
parentPort.postMessage(gateway.url);
