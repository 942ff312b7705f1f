import { failureOf } from './endpoints/failure.js';
import { HttpResponseError, type LlmErrorDetails } from './errors.js';
import { retryAfterMs } from './retry-after.js';
import { isRetryableStatus } from './retryable.js';

type Headers = Readonly<Record<string, string>>;

const REQUEST_IDS = ['x-request-id', 'request-id', 'x-generation-id', 'apim-request-id', 'x-litellm-call-id', 'cf-ray'];

/** The name that the gateway gave to a request, out of the headers of its answer. */
export function requestIdOf(headers: Headers): string | undefined {
  for (const name of REQUEST_IDS) if (headers[name]) return headers[name];
  return undefined;
}

function adviceFor(status: number, retryable: boolean): string {
  if (status === 401 || status === 403) return 'Check the API key and what it may do.';
  if (status === 404 || status === 405) return 'Check `baseUrl`, `paths` and the model.';
  if (status === 402) return 'Check the account.';
  return retryable ? 'The same request may succeed later.' : 'Check the request.';
}

/** Origin and path alone: a query may hold a key. */
export function withoutQuery(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? '';
}

/**
 * The error for an answer that is no event stream.
 *
 * @param where - the endpoint, for the message
 * @param clean - takes secrets out of what the server said, and cuts it
 */
export function httpResponseError(
  where: string,
  status: number,
  headers: Headers,
  body: string,
  clean: (words: string) => string,
  now: () => number,
  details: LlmErrorDetails,
): HttpResponseError {
  const json = parse(body);
  const { message, code, type, requestId } = failureOf(json ?? {});
  const ok = status >= 200 && status < 300;
  const retryable = isRetryableStatus(status, code, type, headers);
  const words = message === undefined ? undefined : clean(message);
  const said = words === undefined ? '' : `: ${words.replace(/\.$/, '')}`;
  const begins = json === undefined && body.trim() !== '' ? ` The body begins: "${clean(body)}"` : '';
  const media = clean(headers['content-type'] ?? 'no content type');
  let what: string;
  if (status === 0 || (status >= 300 && status < 400)) {
    const target = headers['location'];
    what = `redirects${target === undefined ? '' : ` to ${clean(withoutQuery(target))}`}, which is not followed. Set \`baseUrl\` to where it leads`;
  } else if (!ok) {
    what = `answered ${status}${said}. ${adviceFor(status, retryable)}${begins}`;
  } else if (json !== undefined && message === undefined) {
    what = `answered ${status} with JSON (${media}) instead of an event stream. Does it support \`stream: true\`?`;
  } else {
    what = `answered ${status} with ${media} instead of an event stream${said}.${message === undefined ? ` Check \`baseUrl\` and \`paths\`.${begins}` : ''}`;
  }
  return new HttpResponseError(`${where} ${what}`, {
    ...details,
    status,
    code: code ?? (ok ? undefined : status),
    type,
    requestId: requestId ?? details.requestId,
    retryAfterMs: retryAfterMs(headers, now),
    retryable,
    providerMessage: words,
  });
}

/** A JSON body, or the first frame of an event stream. */
function parse(body: string): unknown {
  return parseJson(body) ?? parseJson(/^data:(.*)$/m.exec(body)?.[1] ?? '');
}

function parseJson(body: string): unknown {
  try {
    // Trimmed of a byte order mark too, which JSON does not know.
    return JSON.parse(body.trim()) as unknown;
  } catch {
    return undefined;
  }
}
