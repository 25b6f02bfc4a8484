/** Every maximum with its unit and its reason. What a user may change is in config/; these are its defaults. */
export const LIMITS = {
  /** A request body. Large enough for a few inline pictures, small enough that 100 at once fit in memory. */
  bodyBytesMax: 10 * 1024 * 1024,
  /** What is read and thrown away behind a body that is too large, so that the connection survives. */
  bodyDrainBytesMax: 40 * 1024 * 1024,
  /** How long a body may take to arrive: a slow sender must not hold a socket for ever. */
  bodyReadMs: 30_000,
  /** How long the head of a request may take. */
  headReadMs: 15_000,
  /** Headers of one request: Node's parser stops reading beyond it. */
  headersMax: 100,
  /** Bytes of all headers of one request. */
  headerBytesMax: 16 * 1024,
  /** Nesting of free JSON (data, metadata): deeper values overflow the stack of serialisers, ours and others'. */
  jsonDepthMax: 64,
  /** Characters of an id that a caller chooses (messageId, contextId, …): it becomes a key. */
  idCharsMax: 256,
  /** Parts of one message, and parts added by one artifact event. */
  partsMax: 1_000,
  /** Entries of a list of strings (extensions, modes, referenced tasks, questions). */
  listEntriesMax: 100,
  /** Messages kept in a folded task; older ones are still in its log. */
  historyMessagesMax: 1_000,
  /** Artifacts of one task; each is looked through when a chunk arrives. */
  artifactsMax: 1_000,
  /** Events of one task: about what one reader can replay in a minute. */
  eventsMax: 1_000_000,
  /** Bytes of text and data that one agent event may carry: what a client's event parser takes (the official one 4 MiB). */
  eventBytesMax: 4 * 1024 * 1024,
  /** Events read at once by a reader of a log: one write to a socket. */
  readMax: 256,
  /** Events of one run that are not yet committed: then the agent waits for the disk. */
  unwrittenEventsMax: 256,
  /** Bytes of what one run said that are not yet committed: likewise. */
  unwrittenBytesMax: 1024 * 1024,
  /** Tasks on one page of a list (v1 §3.1.4). */
  pageSizeMax: 100,
  pageSizeDefault: 50,
  /** Settled logs kept in memory for reading. */
  hotTasksMax: 2_000,
  /** Bytes of logs kept in memory, roughly. */
  hotBytesMax: 64 * 1024 * 1024,
  /** Events of one active log kept in memory; a slower reader goes back to the store. */
  hotEventsMax: 1_024,
  /** Bytes of one active log kept in memory, roughly. */
  hotLogBytesMax: 8 * 1024 * 1024,
  /** Characters of a key under which something is put on a shelf. */
  shelfKeyCharsMax: 1_024,
  /** Characters of the JSON of one thing on a shelf: a checkpoint of a graph with a long conversation. */
  shelfValueBytesMax: 16 * 1024 * 1024,
  /** How long a connection to somebody else may take to be made. */
  connectMs: 10_000,
  /** Runs at once in one process. */
  runsMax: 5_000,
  /** Open streams at once in one process. */
  streamsMax: 10_000,
  /** How long a claim on a run holds without renewal. */
  leaseMs: 30_000,
  /** Runs of one turn that may end without a word before the task fails. */
  attemptsMax: 3,
  /** How long an agent may go on after it was told to stop. */
  cancelGraceMs: 5_000,
  /** How long running agents may go on after SIGTERM. */
  drainMs: 10_000,
  /** How long a stream waits for the agent's first word before it shows the task: the answer may be a bare message. */
  firstWordMs: 500,
  /** Between two comments on a stream: proxies close silent connections, most after 30 s or 60 s. */
  heartbeatMs: 15_000,
  /** How long a call that has a key can be repeated at least, whatever an agent's retention says. */
  keyMs: 24 * 60 * 60 * 1000,
  /** Between two looks for tasks that a retention no longer keeps. */
  sweepMs: 60_000,
  /** Tasks that are looked for at once, when a retention no longer keeps them. */
  sweepTasksMax: 1_000,
  /** Tasks that are taken away in one commit: requests wait no longer for it than for each other. */
  sweepBiteTasksMax: 20,
  /** Between two such commits, so that requests have most of the time. */
  sweepPauseMs: 10,
  /** Rows of logs, about one for each commit of a run, that are taken away from one task in one commit. */
  sweepRowsMax: 500,
  /** Bytes of all notes of one turn: a run that resumes has them in memory. */
  notesBytesMax: 16 * 1024 * 1024,
  /** How long a step that is new waits for steps on record to be begun again: work beside it may be on its way to them. */
  stepWaitMs: 2_000,
  /** Messages that one turn takes while it is worked on. */
  incomingMax: 1_000,
  /** How often a conflicting append is tried again with fresh state. */
  conflictTriesMax: 10,
} as const;
