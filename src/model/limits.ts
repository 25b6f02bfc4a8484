/** Every limit with its unit and its reason. Those that operators can change are options in config/; these are the defaults. */
export const LIMITS = {
  /** A request body. Large enough for a few inline pictures, small enough that 100 at once fit in memory. */
  bodyBytesMax: 10 * 1024 * 1024,
  /** Bytes beyond the limit of a body that are read and discarded, so that the connection can be reused. */
  bodyDrainBytesMax: 40 * 1024 * 1024,
  /** The time for a whole body, however steadily it arrives: a slow sender must not hold a socket forever. */
  bodyReadMs: 30_000,
  /** The time for the head of a request. */
  headReadMs: 15_000,
  /** Headers of one request: Node's parser ignores further ones. */
  headersMax: 100,
  /** Bytes of all headers of one request. */
  headerBytesMax: 16 * 1024,
  /** Nesting of free JSON (data, metadata): deeper values overflow the stack of serializers, ours and others'. */
  jsonDepthMax: 64,
  /** Characters of an id that a caller chooses (messageId, contextId, …): it becomes a key. */
  idCharsMax: 256,
  /** Parts of one message, and parts added by one artifact event. */
  partsMax: 1_000,
  /** Entries of a list of strings (extensions, modes, referenced tasks, questions). */
  listEntriesMax: 100,
  /** Messages in a folded task; older ones are still in its log. */
  historyMessagesMax: 1_000,
  /** Artifacts of one task; each chunk searches them. */
  artifactsMax: 1_000,
  /** Events of one task: about as many as a reader can replay in a minute. */
  eventsMax: 1_000_000,
  /** Bytes of text and data in one agent event: what event parsers of clients accept (the official one 4 MiB). */
  eventBytesMax: 4 * 1024 * 1024,
  /** Nesting of one agent event or step: more than a framework's own objects have, far less than a stack holds. */
  eventDepthMax: 256,
  /** Events per read of a log: one write to a socket. */
  readMax: 256,
  /** Events per turn of the event loop for all readers that catch up: other work runs in between. */
  catchUpEventsMax: 2_048,
  /** Bytes of older events, roughly, cached for readers at the same position of a log. */
  logPagesBytesMax: 32 * 1024 * 1024,
  /** Attempts of a reader on a store that is unavailable. */
  readTriesMax: 30,
  /** Between two such attempts: all of them together take longer than a restart of the database. */
  readRetryMs: 1_000,
  /** Uncommitted events of one run: beyond it the agent waits for the disk. */
  uncommittedEventsMax: 256,
  /** Uncommitted bytes of one run: likewise. */
  uncommittedBytesMax: 1024 * 1024,
  /** Characters that one commit adds to one task, as JSON: half of the longest string. */
  rowCharsMax: 256 * 1024 * 1024,
  /** Tasks on one page of a list (v1 §3.1.4). */
  pageSizeMax: 100,
  pageSizeDefault: 50,
  /** Bytes of the tasks on one page, roughly, and of the rows read for it: a page ends early, but has at least one task. */
  pageBytesMax: 4 * 1024 * 1024,
  /** Rows that one request of the admin API examines at a time: other work runs in between. */
  scanRowsMax: 5_000,
  /** Settled logs kept in memory for reading. */
  tailCacheTasksMax: 2_000,
  /** Bytes of logs kept in memory, roughly. */
  tailCacheBytesMax: 64 * 1024 * 1024,
  /** Cached events of one active log; a slower reader reads from the store. */
  tailEventsMax: 1_024,
  /** The idle time after which the events of a short log are evicted; thousands of runs may wait for hours. */
  tailIdleMs: 250,
  /** Cached bytes of one active log, roughly. */
  tailBytesMax: 8 * 1024 * 1024,
  /** Characters of a key of agent storage. */
  storageKeyCharsMax: 1_024,
  /** Characters of the JSON of one stored value: a checkpoint of a graph with a long conversation. */
  storageValueBytesMax: 16 * 1024 * 1024,
  /** Characters of a label of a namespace, and of the key of an item: together they are a key of an index. */
  itemKeyCharsMax: 512,
  /** Labels of a namespace. */
  itemLabelsMax: 16,
  /** Characters of the JSON of one item: a document, not a file. */
  itemValueCharsMax: 1024 * 1024,
  /** Items that a search reads: a search by meaning compares each of them. */
  itemsSearchedMax: 100_000,
  /** Items that a search returns. */
  itemsFoundMax: 1_000,
  /** Expired items that are deleted in one commit. */
  itemsSweptMax: 500,
  /** Schedules of one caller: a list reads all of them. */
  schedulesPerCallerMax: 1_000,
  /** Characters of the JSON of one schedule, with the input of its runs. */
  scheduleCharsMax: 1024 * 1024,
  /** Schedules that a node begins at the same time. */
  schedulesDueMax: 50,
  /** How long a node may take to begin the run of a schedule: then another node tries. */
  scheduleLeaseMs: 60_000,
  /** Between two looks at the schedules, in case a notification was lost. */
  schedulePollMs: 30_000,
  /** Characters of the URL of a webhook: what receivers and their proxies accept. */
  pushUrlCharsMax: 2_048,
  /** Characters of a token, of credentials or of a secret for a webhook: it must fit into a header. */
  pushSecretCharsMax: 4_096,
  /** Characters of earlier tasks of a context that a model, or an agent that asks for the history, gets. */
  historyBytesMax: 8 * 1024 * 1024,
  /** The same for one task; of a larger one the files are left out: several are read at once. */
  historyTaskBytesMax: 2 * 1024 * 1024,
  /** Bytes of a file that a caller refers to by URL and that is fetched for a model: like a body. */
  fileFetchBytesMax: 10 * 1024 * 1024,
  /** The time to fetch it. */
  fileFetchMs: 30_000,
  /** Bytes of one output line of a program: one event. */
  programLineBytesMax: 4 * 1024 * 1024,
  /** Bytes of one line of a Python graph: a checkpoint of the largest size, in base64. */
  graphLineBytesMax: 32 * 1024 * 1024,
  /** Characters of one line that a program writes to standard error: the rest is not logged. */
  programLogCharsMax: 2_000,
  /** Lines that a program writes to standard error in one turn: further ones are not logged. */
  programLogLinesMax: 1_000,
  /** Push configs of one task: each gets every update. */
  pushConfigsPerTaskMax: 10,
  /** Recorded delivery attempts of one config, the newest. */
  pushAttemptsMax: 20,
  /** How long they are listed. */
  pushAttemptsMs: 7 * 24 * 60 * 60 * 1000,
  /** Characters of streamed text that are joined into one delivery. */
  pushTextCharsMax: 64 * 1024,
  /** Concurrent deliveries in one process: each has a connection. */
  pushesMax: 256,
  /** Concurrent deliveries to one host: more would only slow it down. */
  pushesPerHostMax: 32,
  /** The same while the host does not respond: it must not use the connections of others. */
  pushesPerFailingHostMax: 2,
  /** Attempts in a row without a response after which a host counts as failing. */
  pushNoResponseMax: 5,
  /** Hosts whose failures are remembered. */
  pushFailingHostsMax: 10_000,
  /** The time for one delivery attempt. */
  pushTimeoutMs: 15_000,
  /** The delay before the second attempt; it doubles each time. */
  pushRetryMs: 1_000,
  /** The longest delay between two attempts, unless the webhook asks for a longer one. */
  pushRetryMaxMs: 60 * 60 * 1000,
  /** How long a delivery is retried. */
  pushGiveUpMs: 24 * 60 * 60 * 1000,
  /** Bytes of a webhook's response that are read, so that the connection can be reused. */
  pushResponseBytesMax: 64 * 1024,
  /** Configs that wait for a retry in memory; further ones are only in the store. */
  pushesWaitingMax: 50_000,
  /** Between two scans of the store for these, while the memory is full. */
  pushScanFullMs: 30_000,
  /** The same while there is room. */
  pushScanMs: 1_000,
  /** Cached card signatures: one for each agent, version and base URL. */
  signedCardsMax: 1_000,
  /** The time for an OAuth provider to return tokens for a code. */
  tokenWaitMs: 15_000,
  /** Bytes of an OAuth provider's response: tokens have a few thousand. */
  tokenBytesMax: 256 * 1024,
  /** The time for a person at an OAuth provider: long enough to look for a password. */
  oauthStateMs: 10 * 60 * 1000,
  /** Used OAuth states that are remembered, so that none is accepted twice. */
  oauthStatesMax: 10_000,
  /** Characters of the JSON of credentials that a caller gives: a private key is among the largest. */
  credentialCharsMax: 16 * 1024,
  /** Between two polls of all topics, in case a notification of another node was lost. */
  busPollMs: 15_000,
  /** Cached tasks of a database in one node: more than are run and read there at once, or each is read again and again. */
  databaseTasksMax: 20_000,
  /** Bytes of these, roughly. */
  databaseTaskBytesMax: 256 * 1024 * 1024,
  /** Connections of one node to the database. */
  databaseConnectionsMax: 10,
  /** The time for one database statement. */
  statementMs: 15_000,
  /** The time to connect to another server. */
  connectMs: 10_000,
  /** Characters of a JWT: a longer one carries more than an identity. */
  tokenCharsMax: 8 * 1024,
  /** Authenticated callers cached in one process. */
  cachedCallersMax: 10_000,
  /** How long a verified JWT is not verified again. */
  cachedJwtMs: 60_000,
  /** The time for a token issuer to return its keys. */
  issuerAnswerMs: 5_000,
  /** Between two requests to an issuer: tokens with unknown key ids must not cause a request each. */
  issuerRetryMs: 10_000,
  /** How long the keys of an issuer are cached. */
  issuerKeysMs: 10 * 60_000,
  /** How long they are used while the issuer is unreachable. */
  issuerKeysStaleMs: 60 * 60_000,
  /** Between two checks whether the credentials of open streams are still valid. */
  expiryCheckMs: 100,
  /** Between two checks whether another process has changed the tokens: so long may a revoked one be accepted. */
  tokenCheckMs: 10,
  /** The same where the tokens are in a database, and other nodes change them. */
  tokenPollMs: 500,
  /** Between two writes of when tokens were last used. */
  tokenUsedMs: 1_000,
  /** Tokens of one server. */
  tokensMax: 100_000,
  /** Tokens on one page of a list. */
  tokensPageMax: 1_000,
  /** How long expired and revoked tokens are listed. */
  expiredTokenMs: 90 * 24 * 60 * 60_000,
  /** Owners whose tasks are counted in memory, for the totals of lists. */
  listedCountsMax: 10_000,
  /** Concurrent runs in one process. */
  runsMax: 5_000,
  /** Tasks that wait for a run: beyond it messages are refused with "unavailable". */
  queueMax: 100_000,
  /** How long no run could begin before new work is refused: longer than most runs take. */
  queueWaitMs: 30_000,
  /** Concurrent connections: each has a socket and its buffers. */
  connectionsMax: 20_000,
  /** Bytes of a response per write; a larger one is written in chunks and counts as unread meanwhile. */
  chunkBytes: 64 * 1024,
  /** Bytes of large responses that callers have not read yet, in one process; one caller may have half of it. */
  unreadBytesMax: 512 * 1024 * 1024,
  /** Bytes of responses that wait on one HTTP/2 connection before its next request is refused. */
  unsentBytesMax: 4 * 1024 * 1024,
  /** Callers whose call rate is remembered. */
  callersMax: 100_000,
  /** Concurrent streams in one process. */
  streamsMax: 10_000,
  /** How long a claim on a run is valid without renewal. */
  leaseMs: 30_000,
  /** Runs of one turn that may be interrupted before the task fails. */
  attemptsMax: 3,
  /** How long an agent may continue after its abort signal. */
  cancelGraceMs: 5_000,
  /** How long running agents may continue after SIGTERM. */
  drainMs: 10_000,
  /** How long a stream waits for the agent's first event before it sends the task: the reply may be a bare message. */
  firstEventTimeoutMs: 500,
  /** Between two comments on a stream: proxies close idle connections, most after 30 s or 60 s. */
  heartbeatMs: 15_000,
  /** How long a call with an Idempotency-Key can be repeated at least, whatever an agent's retention says. */
  keyMs: 24 * 60 * 60 * 1000,
  /** Between two searches for tasks beyond their retention. */
  sweepMs: 60_000,
  /** Tasks found by one such search. */
  sweepTasksMax: 1_000,
  /** Tasks deleted in one commit: requests wait no longer for it than for each other. */
  sweepCommitTasksMax: 20,
  /** Between two such commits, so that requests have most of the time. */
  sweepPauseMs: 10,
  /** Rows of logs, about one for each commit of a run, that one commit deletes from one task. */
  sweepRowsMax: 500,
  /** Bytes of all recorded steps of one turn: a run that resumes has them in memory. */
  stepsBytesMax: 16 * 1024 * 1024,
  /** Characters of an agent's error, with its stack and its causes, that are stored with the task. */
  errorCharsMax: 8 * 1024,
  /** How long a new step waits for recorded steps to be found: concurrent code may be about to ask for them. */
  stepWaitMs: 2_000,
  /** Messages that one turn accepts while it is worked on. */
  incomingMax: 1_000,
  /** Servers that may forward a call in a row: longer than any sensible chain, short enough to end a loop soon. */
  hopsMax: 8,
  /** The time to read the card of a remote agent. */
  upstreamMs: 10_000,
  /** How long a start waits for such cards: then agents are served with the cards of the config. */
  upstreamWaitMs: 2_000,
  /** Between two refreshes of such cards. */
  upstreamRefreshMs: 5 * 60_000,
  /** The same while one of them cannot be read. */
  upstreamRetryMs: 10_000,
  /** How long a tool of /mcp waits for its task: clients give up after a minute, proxies often sooner. */
  mcpWaitMs: 25_000,
  /** How long a get waits for the next update of its task: proxies often close a connection that is silent for 30 s. */
  longPollMs: 25_000,
  /** Characters of one progress notification. */
  mcpProgressCharsMax: 4_000,
  /** The time for an MCP server to start. */
  mcpConnectMs: 30_000,
  /** How long one of its tools may work without a sign of progress. */
  mcpCallMs: 10 * 60_000,
  /** Tools of one MCP server. */
  mcpToolsMax: 1_000,
  /** Characters of one log message of an MCP server. */
  mcpLogCharsMax: 2_000,
  /** Assistants that one caller may create, and versions of one that are kept. */
  assistantsMax: 1_000,
  assistantVersionsMax: 100,
  /** Threads of one caller that a search looks at, the newest first. */
  searchedThreadsMax: 10_000,
  /** Stored items that a copy of a thread reads at once: each may be a checkpoint with the whole state. */
  copiedItemsMax: 20,
  /** Attempts of an append that conflicts, each with fresh state. */
  conflictTriesMax: 10,
} as const;
