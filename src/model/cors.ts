/** Rules of CORS beside the list of origins. */
export interface CorsRules {
  /** A regular expression of further origins. */
  readonly originPattern: string | undefined;
  /** undefined: all that a path has. */
  readonly methods: readonly string[] | undefined;
  /** Request headers that pages may set, beside those of the protocols. */
  readonly headers: readonly string[] | undefined;
  /** Response headers that pages may read, beside those of the protocols. */
  readonly exposedHeaders: readonly string[] | undefined;
  /** Browsers send cookies with calls of pages. */
  readonly allowsCredentials: boolean;
  readonly maxAgeSeconds: number | undefined;
}
