/** One of the known words, offered by editors, or any other that a server may say. */
export type OpenWord<Known extends string> = Known | (string & Record<never, never>);

/**
 * A request with whatever else a gateway takes. It is a union so that both fit: literals with extra fields, and
 * interfaces of the vendors' SDKs, which are never assignable to an index signature.
 */
export type WithExtras<Request extends object> = Request | (Request & { readonly [extra: string]: unknown });
