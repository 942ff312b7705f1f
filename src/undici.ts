export { undiciTransport, type UndiciTransportOptions } from './transport/undici.js';
