export { startGateway } from './server.js';
export type { Gateway, GatewayOptions } from './options.js';
export type { JournalEntry, JournalOutcome } from './journal.js';
export { parseFault, type Fault, type FaultLike, type FaultPoint } from './faults.js';
export { parsePace, type Pace } from './pace.js';
export type { Dialect, GatewayEndpoint, Receipt } from './protocol.js';
export { REFUSAL_PHRASE } from './content/text.js';
export { countTokens, tokenize } from './content/tokens.js';
