/** Every maximum of the command line, with its unit and its reason. */
export const CLI_LIMITS = {
  /** A file or standard input to send: as base64 it fits into the default body limit of a server. */
  attachmentBytesMax: 7 * 1024 * 1024,
  /** A file to import: more than the largest agents have, and little enough to be parsed at once. */
  importBytesMax: 4 * 1024 * 1024,
  /** Time without output after which the command says what it waits for. */
  waitingDelayMs: 2_000,
  /** Tasks on one page of a list (v1 §3.1.4). */
  pageSizeMax: 100,
  /** Pages read for one listing, in addition to one for each requested task. */
  pagesMax: 1_000,
  /** Names tried for a file that exists already. */
  fileNamesMax: 1_000,
  /** Agents that a task is looked for in, and calls for it at a time. */
  agentsMax: 1_000,
  parallelMax: 8,
  /** Questions answered in one call. */
  turnsMax: 1_000,
  /** Editors write in bursts: a reload waits for this time without a change. */
  reloadDelayMs: 80,
} as const;
