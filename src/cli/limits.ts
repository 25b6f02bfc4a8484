/** Every maximum of the command line, with its unit and its reason. */
export const CLI_LIMITS = {
  /** One event of a stream: a snapshot holds all artifacts of a task, a few large files among them. */
  eventCharsMax: 64 * 1024 * 1024,
  /** A whole answer, for the same reason. */
  answerBytesMax: 64 * 1024 * 1024,
  /** A file or standard input to send: what a server takes by default, as base64. */
  attachmentBytesMax: 7 * 1024 * 1024,
  /** After this time silence is explained. */
  patienceMs: 2_000,
  /** Waits before a lost stream is taken up again; long enough together for a server to restart. */
  resumeWaitsMs: [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000] as readonly number[],
  /** Tasks on one page of a list (v1 §3.1.4). */
  pageSizeMax: 100,
  /** Pages read for one listing. */
  pagesMax: 1_000,
  /** Names tried for a file that is already there. */
  fileNamesMax: 1_000,
  /** Questions answered in one call. */
  turnsMax: 1_000,
  /** Editors write in bursts: a reload waits for this much quiet. */
  quietMs: 80,
} as const;
