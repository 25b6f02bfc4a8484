/** Outgoing HTTP requests. Redirects are not followed. */
export interface Outbound {
  /** For URLs that callers give: internal addresses are refused when the connection is made. */
  readonly guarded: Fetch;
  /** For URLs that the operator configured. */
  readonly trusted: Fetch;
}
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The rules for URLs that callers give. */
export interface Targets {
  /** The problem with a URL, as far as it is known before the host is resolved: "must …". */
  refusalOf(url: URL): string | undefined;
}
