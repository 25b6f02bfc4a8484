/** Every maximum with its unit and its reason. What a user may change is in config/; these are its defaults. */
export const LIMITS = {
  /** A request body. Large enough for a few inline pictures, small enough that 100 at once fit in memory. */
  bodyBytesMax: 10 * 1024 * 1024,
  /** What is read and thrown away behind a body that is too large, so that the connection survives. */
  bodyDrainBytesMax: 40 * 1024 * 1024,
  /** How long a whole body may take to arrive, however steadily it comes: a slow sender must not hold a socket for ever. */
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
  /** Nesting of one agent event or note: more than a framework's own objects have, far less than a stack holds. */
  eventDepthMax: 256,
  /** Events read at once by a reader of a log: one write to a socket. */
  readMax: 256,
  /** Events that readers who catch up are given in one turn of the event loop, all together: then others have their turn. */
  catchUpEventsMax: 2_048,
  /** Bytes of older events, roughly, that are kept in memory for readers at the same place of a log. */
  logPagesBytesMax: 32 * 1024 * 1024,
  /** How often a reader asks a store that cannot be read now, before it gives up. */
  readTriesMax: 30,
  /** Between two such questions: together, longer than it takes to start a database again. */
  readRetryMs: 1_000,
  /** Events of one run that are not yet committed: then the agent waits for the disk. */
  unwrittenEventsMax: 256,
  /** Bytes of what one run said that are not yet committed: likewise. */
  unwrittenBytesMax: 1024 * 1024,
  /** Characters of what one commit adds to one task, as JSON: half of the longest string. */
  rowCharsMax: 256 * 1024 * 1024,
  /** Tasks on one page of a list (v1 §3.1.4). */
  pageSizeMax: 100,
  pageSizeDefault: 50,
  /** Bytes of the tasks on one page, roughly, and of what is read for it: a page ends before it has more, but has one task. */
  pageBytesMax: 4 * 1024 * 1024,
  /** Settled logs kept in memory for reading. */
  hotTasksMax: 2_000,
  /** Bytes of logs kept in memory, roughly. */
  hotBytesMax: 64 * 1024 * 1024,
  /** Events of one active log kept in memory; a slower reader goes back to the store. */
  hotEventsMax: 1_024,
  /** How long a short log says nothing before its events leave memory; thousands of runs may wait for hours. */
  hotQuietMs: 250,
  /** Bytes of one active log kept in memory, roughly. */
  hotLogBytesMax: 8 * 1024 * 1024,
  /** Characters of a key under which something is put on a shelf. */
  shelfKeyCharsMax: 1_024,
  /** Characters of the JSON of one thing on a shelf: a checkpoint of a graph with a long conversation. */
  shelfValueBytesMax: 16 * 1024 * 1024,
  /** Characters of the URL of a webhook: what receivers and the proxies before them take. */
  pushUrlCharsMax: 2_048,
  /** Characters of a token, of credentials or of a secret for a webhook: it must fit into a header. */
  pushSecretCharsMax: 4_096,
  /** Characters of what a model, or an agent that asks for the history, is told of earlier tasks of a context. */
  historyBytesMax: 8 * 1024 * 1024,
  /** The same of one task; a larger one is told without its files: a few are read at once. */
  historyTaskBytesMax: 2 * 1024 * 1024,
  /** Bytes of a file that a caller points to and that is fetched for a model: like a body. */
  fileFetchBytesMax: 10 * 1024 * 1024,
  /** How long it may take to fetch it. */
  fileFetchMs: 30_000,
  /** Bytes of a line that a program says: one event. */
  programLineBytesMax: 4 * 1024 * 1024,
  /** Characters of a line that a program writes to standard error: the rest is left out of the log. */
  programLogCharsMax: 2_000,
  /** Lines that a program writes to standard error in one turn: the rest is left out of the log. */
  programLogLinesMax: 1_000,
  /** Push configs of one task: each gets every update. */
  pushConfigsPerTaskMax: 10,
  /** Attempts at deliveries that are kept of one config, the newest. */
  pushAttemptsMax: 20,
  /** How long they are told of. */
  pushAttemptsMs: 7 * 24 * 60 * 60 * 1000,
  /** Characters of streamed words that are delivered in one go. */
  pushWordsCharsMax: 64 * 1024,
  /** Deliveries at once in one process: each has a connection. */
  pushesMax: 256,
  /** Deliveries at once to one host: more would only make it slower. */
  pushesPerHostMax: 32,
  /** The same while the host does not answer: it must not take the room of those that do. */
  pushesPerSilentHostMax: 2,
  /** So often in a row there may be no answer before that. */
  pushSilencesMax: 5,
  /** Hosts of which this is remembered. */
  pushSilentHostsMax: 10_000,
  /** How long an attempt at a delivery may take. */
  pushTimeoutMs: 15_000,
  /** Before the second attempt; then twice as long each time. */
  pushRetryMs: 1_000,
  /** The longest wait between two attempts, unless the webhook asks for a longer one. */
  pushRetryMaxMs: 60 * 60 * 1000,
  /** How long a delivery is tried before it is given up. */
  pushGiveUpMs: 24 * 60 * 60 * 1000,
  /** Bytes of a webhook's answer that are read, so that the connection can be used again. */
  pushAnswerBytesMax: 64 * 1024,
  /** Configs that wait for another attempt and are kept in memory; the others are only in the store. */
  pushesWaitingMax: 50_000,
  /** Between two looks for these, while there is no room for them. */
  pushesLookMs: 30_000,
  /** The same when there is. */
  pushesRecallMs: 1_000,
  /** Cards whose signatures are kept: one for each agent, version and address by which callers reach us. */
  signedCardsMax: 1_000,
  /** How long a provider may take to give tokens for a code. */
  tokenWaitMs: 15_000,
  /** Bytes of what a provider answers: tokens are a few thousand. */
  tokenBytesMax: 256 * 1024,
  /** How long a person may take at a provider: long enough to look for a password. */
  oauthVisitMs: 10 * 60 * 1000,
  /** Visits to providers that are remembered, so that none counts twice. */
  oauthVisitsMax: 10_000,
  /** Characters of the JSON of credentials that a caller gives: a private key is among the largest. */
  credentialCharsMax: 16 * 1024,
  /** Between two looks at everything, in case the bell of another node was lost. */
  busPollMs: 15_000,
  /** Tasks of a database that a node remembers: more than run and are read there at once, or it reads them again and again. */
  knownTasksMax: 20_000,
  /** Bytes of these, roughly. */
  knownBytesMax: 256 * 1024 * 1024,
  /** Connections of one node to the database. */
  databaseConnectionsMax: 10,
  /** How long a question to a database may take. */
  statementMs: 15_000,
  /** How long a connection to somebody else may take to be made. */
  connectMs: 10_000,
  /** Characters of a signed token: what is longer holds more than who calls. */
  tokenCharsMax: 8 * 1024,
  /** Callers that are known without looking them up again, in one process. */
  knownCallersMax: 10_000,
  /** How long a signed token that was found good is not checked again. */
  knownJwtMs: 60_000,
  /** How long an issuer of tokens may take to tell its keys. */
  issuerAnswerMs: 5_000,
  /** Between two questions to an issuer: tokens with made-up keys must not make us ask at each of them. */
  issuerRestMs: 10_000,
  /** How long the keys of an issuer are good without asking again. */
  issuerKeysMs: 10 * 60_000,
  /** How long they are good if the issuer cannot be asked. */
  issuerKeysLastMs: 60 * 60_000,
  /** Between two looks whether those who read a stream are still known. */
  lapseLookMs: 100,
  /** Between two looks whether another process has changed the tokens: so long may a revoked one be taken for good. */
  tokenLookMs: 10,
  /** The same where the tokens are in a database, and other nodes change them. */
  tokenPollMs: 500,
  /** Between two records of when tokens were last used. */
  tokenUsedMs: 60_000,
  /** Tokens of one server. */
  tokensMax: 100_000,
  /** Tokens on one page of a list of them. */
  tokensPageMax: 1_000,
  /** How long tokens that are no longer good stay in lists. */
  tokenKeptMs: 90 * 24 * 60 * 60_000,
  /** Runs at once in one process. */
  runsMax: 5_000,
  /** Tasks that may wait for a run: beyond it callers are told to come back. */
  queueMax: 100_000,
  /** How long no run may become free before new work is refused: longer than most runs take. */
  queueWaitMs: 30_000,
  /** Connections at once: each has a socket and its buffers. */
  connectionsMax: 20_000,
  /** Bytes of an answer that are written at once; a larger one goes out piece by piece and counts as unread meanwhile. */
  pieceBytes: 64 * 1024,
  /** Bytes of large answers that callers have not read yet, in one process; one caller may have half of it. */
  unreadBytesMax: 512 * 1024 * 1024,
  /** Bytes of answers that may wait on one HTTP/2 connection before its next request is refused. */
  unsentBytesMax: 4 * 1024 * 1024,
  /** Callers whose pace is remembered. */
  callersMax: 100_000,
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
  /** Characters of an error of an agent, with its stack and its causes, that is kept with the task. */
  errorCharsMax: 8 * 1024,
  /** How long a step that is new waits for steps on record to be begun again: work beside it may be on its way to them. */
  stepWaitMs: 2_000,
  /** Messages that one turn takes while it is worked on. */
  incomingMax: 1_000,
  /** Servers that may pass a call on, one to another: longer than any sensible chain, short enough to end a circle soon. */
  hopsMax: 8,
  /** How long the card of an agent that another one stands for may take. */
  upstreamMs: 10_000,
  /** How long a start waits for such cards: then agents are served with what the config says of them. */
  upstreamWaitMs: 2_000,
  /** Between two looks at such cards. */
  upstreamEveryMs: 5 * 60_000,
  /** The same while one of them cannot be read. */
  upstreamRetryMs: 10_000,
  /** How long a tool of /mcp waits for its task: clients give up after a minute, proxies often sooner. */
  mcpWaitMs: 25_000,
  /** Characters of one report of progress to whoever called it. */
  mcpProgressCharsMax: 4_000,
  /** How long an MCP server whose tools agents use may take to start. */
  mcpConnectMs: 30_000,
  /** How long one of its tools may work without a sign of life. */
  mcpCallMs: 10 * 60_000,
  /** Tools of one such server. */
  mcpToolsMax: 1_000,
  /** Characters that it may put into the log at once. */
  mcpLogCharsMax: 2_000,
  /** How often a conflicting append is tried again with fresh state. */
  conflictTriesMax: 10,
} as const;
