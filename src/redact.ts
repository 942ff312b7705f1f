/** As much as a message quotes of what a server said. */
const EXCERPT = 200;
/** Shorter words stand in any text. */
const SHORTEST_SECRET = 4;
const SHORTEST_PROMPT = 8;
const MASK = '[redacted]';

/** The fields of a request that hold what people wrote. */
const PROMPTS = ['messages', 'input', 'prompt', 'system', 'instructions'];

/**
 * Makes a server's words fit for an error message: servers echo keys, headers and prompts. Cut after that, so that no
 * half of a secret stays.
 */
export function redact(words: string, headers: Readonly<Record<string, string>>, request: object): string {
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'content-type' || name === 'accept') continue;
    secrets.push(...[value, value.replace(/^\S+ /, '')].filter((secret) => secret.length >= SHORTEST_SECRET));
  }
  for (const [name, value] of Object.entries(request)) if (PROMPTS.includes(name)) collect(value, secrets);
  secrets.sort((a, b) => b.length - a.length);
  let safe = words;
  for (const secret of secrets) safe = safe.replaceAll(secret, MASK);
  safe = safe.replace(/\s+/g, ' ').trim();
  return safe.length > EXCERPT ? `${safe.slice(0, EXCERPT - 1)}…` : safe;
}

function collect(value: unknown, into: string[]): void {
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') {
      if (next.length >= SHORTEST_PROMPT) into.push(next, JSON.stringify(next).slice(1, -1));
    } else if (typeof next === 'object' && next !== null) open.push(...(Object.values(next) as unknown[]));
  }
}
