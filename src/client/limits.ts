/** Limits of calls to other agents. */
export const CLIENT_LIMITS = {
  /** One event of a stream: a snapshot holds all artifacts of a task, including files. */
  eventCharsMax: 64 * 1024 * 1024,
  /** A whole response, for the same reason. */
  answerBytesMax: 64 * 1024 * 1024,
  /** Delays before a lost stream is resumed: together long enough for a server to restart. */
  retryDelaysMs: [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000] as readonly number[],
  /** Upper bound for the `Retry-After` header of another server. */
  retryAfterMsMax: 60_000,
  /** Tasks per page of a list, if the caller does not say. */
  pageSize: 50,
  /** Interval of polling a task that cannot be streamed. */
  pollMs: 1_000,
} as const;

/** Limits of calls from a server: remote agents and `ctx.call`, which run in the background, and gRPC. */
export const SERVER_CALL_LIMITS = {
  /** Delays before a lost stream is resumed: a server may be down for minutes. */
  backgroundRetryDelaysMs: [
    250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 30_000, 30_000,
  ] as readonly number[],
  /** Timeout of a cancel request to another agent; shorter than the time that our own agents get to stop. */
  cancelMs: 4_000,
  /** How long an unused gRPC connection stays open. */
  idleMs: 60_000,
} as const;
