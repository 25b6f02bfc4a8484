/** Every maximum of the command line, with its unit and its reason. */
export const CLI_LIMITS = {
  /** A file or standard input to send: what a server takes by default, as base64. */
  attachmentBytesMax: 7 * 1024 * 1024,
  /** After this time silence is explained. */
  waitingDelayMs: 2_000,
  /** Tasks on one page of a list (v1 §3.1.4). */
  pageSizeMax: 100,
  /** Pages read for one listing, beside one for each task that is asked for. */
  pagesMax: 1_000,
  /** Names tried for a file that is already there. */
  fileNamesMax: 1_000,
  /** Questions answered in one call. */
  turnsMax: 1_000,
  /** Editors write in bursts: a reload waits for this much quiet. */
  reloadDelayMs: 80,
} as const;
