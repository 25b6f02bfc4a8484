/** Calls to others. Redirects are not followed. */
export interface Outbound {
  /** To where callers point: addresses inside are refused when the connection is made. */
  readonly guarded: Fetch;
  /** To where whoever runs this server points. */
  readonly trusted: Fetch;
}
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Where callers may point to. */
export interface Targets {
  /** What is wrong with a URL, as far as that can be told before its host is asked for: "must …". */
  refusalOf(url: URL): string | undefined;
}
