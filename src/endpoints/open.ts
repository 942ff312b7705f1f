/** One of the known words, offered by editors, or any other that a server may say. */
export type OpenWord<Known extends string> = Known | (string & Record<never, never>);

/**
 * A request with whatever else a gateway takes. It is a union so that both fit: literals with extra fields, and
 * interfaces of the vendors' SDKs, which are never assignable to an index signature.
 */
export type WithExtras<Request extends object> = Request | (Request & { readonly [extra: string]: unknown });

/** One member for each type, so that the union narrows, and `Extract` finds each. */
export type EachType<Type extends string, Fields extends object> = Type extends string
  ? Fields & { readonly type: Type }
  : never;
