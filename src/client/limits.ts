/** Every maximum of calls to others, with its unit and its reason. */
export const CLIENT_LIMITS = {
  /** One event of a stream: a snapshot holds all artifacts of a task, a few large files among them. */
  eventCharsMax: 64 * 1024 * 1024,
  /** A whole answer, for the same reason. */
  answerBytesMax: 64 * 1024 * 1024,
  /** Waits before a lost stream is taken up again; long enough together for a server to restart. */
  resumeWaitsMs: [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000] as readonly number[],
  /** The same for agents that stand for others: nobody waits at a terminal, and a server may be gone for minutes. */
  patientWaitsMs: [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 30_000, 30_000] as readonly number[],
  /** How long another agent may take to hear that its task is canceled; less than an agent of ours may take to stop. */
  cancelMs: 4_000,
  /** The longest that another server's wish to be left alone for a while is obeyed. */
  retryAfterMsMax: 60_000,
  /** How long a connection of gRPC is kept that nobody uses. */
  idleMs: 60_000,
  /** Between two looks at a task that cannot be streamed. */
  pollMs: 1_000,
} as const;
