export { expectMarbles, MarbleMismatch, type MarbleValues } from './expect-marbles.js';
export { marbles, type MarbleHelpers } from './marbles.js';
