import { fields, text } from './endpoints/fields.js';
import type { TransportRequest } from './transport/transport.js';

/** As much as a message quotes of what a server said. */
const EXCERPT = 200;
/** Shorter words stand in any text; of a header that is no credential, words of up to seven letters do, too. */
const SHORTEST = 4;
const SHORTEST_HEADER = 8;
const CREDENTIAL = /auth|key|token|secret|cookie/;
/** A run of so many letters that a prompt has too is a piece of it. */
const RUN = 16;
const STEP = RUN / 2;
/** As much of what a server said, and of each text of a prompt, as is looked at: what is quoted is the beginning. */
const SEARCHED = 65_536;
const MASK = '[redacted]';

/** The fields of a request that hold what people wrote. */
const PROMPTS = ['messages', 'input', 'prompt', 'system', 'instructions'];

/**
 * Makes a server's words fit for an error message: servers echo keys, headers and prompts, whole or in part. Cut after
 * that, so that no half of a secret stays.
 */
export function redact(words: string, sent: TransportRequest | undefined, request: object): string {
  const prompts: string[] = [];
  for (const [name, value] of Object.entries(request)) if (PROMPTS.includes(name)) collect(value, prompts);
  const secrets = sent ? secretsOf(sent) : [];
  for (const prompt of prompts) {
    if (prompt.length <= Math.min(words.length, SEARCHED)) secrets.push(prompt, JSON.stringify(prompt).slice(1, -1));
  }
  let safe = words.slice(0, SEARCHED);
  for (const secret of secrets.sort((a, b) => b.length - a.length)) {
    if (secret.length >= SHORTEST) safe = safe.replaceAll(secret, MASK);
  }
  safe = tidy(safe);
  if (safe.length > EXCERPT) safe = `${safe.slice(0, EXCERPT - 1)}…`;
  return maskPieces(safe, prompts);
}

/**
 * What an error of a transport, or of whoever gives the key, says, without what it may carry: undici's hold bytes of
 * the body, other libraries' the whole request. Stays: name, message, code, the lines of the stack, and its own cause.
 */
export function copyOf(error: unknown, clean: (words: string) => string, depth = 4): Error {
  const { name, message, code, stack, cause } = fields(error);
  const copy: Error & { code?: unknown } = new Error(
    clean(text(message) || (typeof error === 'string' ? error : 'no message')),
  );
  copy.name = clean(text(name) || 'Error');
  const frames = text(stack)
    .split('\n')
    .filter((line) => /^ +at /.test(line));
  copy.stack = [`${copy.name}: ${copy.message}`, ...frames].join('\n');
  if (typeof code === 'string' || typeof code === 'number') copy.code = code;
  if (depth > 0 && cause !== undefined && cause !== null) copy.cause = copyOf(cause, clean, depth - 1);
  return copy;
}

/** What the request carried beside its body: headers, with and without a scheme before them, and the URL's query. */
function secretsOf({ headers, url }: TransportRequest): string[] {
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'content-type' || name === 'accept') continue;
    if (CREDENTIAL.test(name) || value.length >= SHORTEST_HEADER) secrets.push(value, value.replace(/^\S+ /, ''));
  }
  const query = url.split('?').slice(1).join('?');
  for (const part of query.split('&')) secrets.push(part.slice(part.indexOf('=') + 1));
  for (const [, value] of new URLSearchParams(query)) secrets.push(value);
  return secrets;
}

function collect(value: unknown, into: string[]): void {
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') into.push(next);
    else if (typeof next === 'object' && next !== null) {
      // The wire's own words, which any message may hold.
      for (const [name, part] of Object.entries(next)) if (name !== 'role' && name !== 'type') open.push(part);
    }
  }
}

function maskPieces(words: string, prompts: readonly string[]): string {
  let safe = words;
  for (const prompt of prompts) {
    if (prompt.length < RUN) continue;
    const within = tidy(prompt.slice(0, SEARCHED));
    // A run that long covers one of these windows whole, wherever it begins.
    for (let at = 0; at + STEP <= safe.length; at += STEP) {
      if (!within.includes(safe.slice(at, at + STEP))) continue;
      let [from, to] = [at, at + STEP];
      while (from > 0 && within.includes(safe.slice(from - 1, to))) from--;
      while (to < safe.length && within.includes(safe.slice(from, to + 1))) to++;
      if (to - from >= RUN) safe = safe.slice(0, from) + MASK + safe.slice(to);
    }
  }
  return safe;
}

function tidy(words: string): string {
  return words.replace(/\s+/g, ' ').trim();
}
