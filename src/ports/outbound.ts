/** Calls to others. Redirects are not followed. */
export interface Outbound {
  /** To where callers point: addresses inside are refused when the connection is made. */
  readonly guarded: Fetch;
  /** To where whoever runs this server points. */
  readonly trusted: Fetch;
}
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;
