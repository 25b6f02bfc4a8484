import { type Command, Option } from "commander";

/** A flag of the server and its line in the help. What it may be is checked by config/, with file and environment. */
type FlagRow = readonly [flag: string, about: string, choices?: readonly string[]];

const PROFILES = ["on", "strict", "off"];

/** Written down here once more, and held in step by a test, so that `--help` need not load what config/ needs. */
const FLAGS: readonly FlagRow[] = [
  ["--port <number>", "where to listen; 0: any free port (default: 2024, or the next free one)"],
  ["--host <address>", "the address to listen at; 0.0.0.0: all of them (default: 127.0.0.1)"],
  ["--grpc-port <number>", "a port for gRPC alone; else it shares the port"],
  ["--tls-cert <file>", "the certificate, in PEM form: HTTPS is spoken"],
  ["--tls-key <file>", "the private key of the certificate, in PEM form"],
  [
    "--data <place>",
    "the folder where tasks are kept, postgres://… for a database, or :memory: (default: .dragoman)",
  ],
  ["--bell <url>", "where nodes of one store wake each other, if not in its database: nats://…"],
  ["--database-direct-url <url>", "the database itself, where --data leads to a pooler such as PgBouncer"],
  ["--default <name>", "the agent that answers at /; else the first one"],
  ["--public-url <url>", "the URL under which callers reach this server, for its cards"],
  ["--trust-proxy", "believe X-Forwarded-* headers"],
  ["--no-trust-proxy", "do not, whatever file and environment say"],
  ["--http-fast-path", "read plain HTTP/1.1 requests without Node's HTTP parser (default)"],
  ["--no-http-fast-path", "do not, whatever file and environment say"],
  ["--card-policy <policy>", "what a card is for a caller that names no version", ["hybrid", "v1"]],
  [
    "--version-policy <policy>",
    "whether a call with a wrong or missing version is understood",
    ["lenient", "strict"],
  ],
  ["--error-table <edition>", "which edition of the specification error numbers follow", ["1.0.1", "1.0.0"]],
  ["--langgraph <profile>", "the dialect of LangGraph Agent Server", PROFILES],
  ["--orloj <profile>", "the dialect of Orloj", PROFILES],
  ["--arbiter <profile>", "the dialect of Arbiter", PROFILES],
  ["--simple <profile>", "the dialect of simple_a2a", PROFILES],
  [
    "--durability <kind>",
    "what a recorded event survives: loss of power, or of the process",
    ["power", "process"],
  ],
  ["--accept-data-loss", "start although the store is damaged or its keys are gone, with what is left"],
  ["--no-accept-data-loss", "do not, whatever file and environment say (default)"],
  ["--log-level <level>", "how much is logged", ["trace", "debug", "info", "warn", "error", "silent"]],
];

const ACCESS_FLAGS: readonly FlagRow[] = [
  [
    "--auth <modes>",
    "how callers show who they are: none, or some of tokens, jwt, api-key, mtls, with commas between them",
  ],
  ["--insecure", "serve other machines although everybody may call"],
  ["--no-insecure", "do not, whatever file and environment say (default)"],
  ["--api-key-header <name>", "the header of api-key (default: X-API-Key)"],
  ["--jwt <json>", "whose signed tokens jwt takes, and how they are read"],
  [
    "--tls-client-ca <file>",
    "the authority of callers' certificates, in PEM form: callers are asked for one",
  ],
  ["--client-certificates <json>", "whose certificates mtls takes; else all of the authority"],
  ["--cors <list>", "pages that may call from a browser: origins with commas between them, or *"],
  [
    "--allowed-hosts <list>",
    "names of this server beside its own: it may be called by them on loopback, and signs cards for them",
  ],
];

const LIMIT_FLAGS: readonly FlagRow[] = [
  ["--body-bytes-max <bytes>", "bytes of one request's body"],
  ["--runs-max <count>", "runs at once"],
  ["--streams-max <count>", "open streams at once"],
  ["--heartbeat-ms <ms>", "between two comments on a stream"],
  ["--cancel-grace-ms <ms>", "how long an agent may go on after it was told to stop"],
  ["--drain-ms <ms>", "how long running agents may go on after SIGTERM"],
  ["--lease-ms <ms>", "how long a claim on a run holds without renewal"],
  ["--attempts-max <count>", "runs of one turn that may break off before the task fails"],
  ["--first-word-ms <ms>", "how long a stream waits for the agent's first word before it shows the task"],
  ["--send-wait-ms <ms>", "how long a blocking send waits for its task; 0: to the end"],
  ["--database-connections-max <count>", "connections to the database"],
  ["--quotas <json>", "what one caller and one tenant may have"],
  ["--queue-max <count>", "tasks that may wait for a run"],
  ["--queue-wait-ms <ms>", "how long no run may become free before new messages are refused; 0: they wait"],
  ["--connections-max <count>", "connections at once"],
  ["--unread-bytes-max <bytes>", "bytes of large answers that callers have not read yet"],
  ["--sweep-ms <ms>", "between two looks for tasks that an agent's retention no longer keeps"],
];

const PUSH_FLAGS: readonly FlagRow[] = [
  ["--push-allow <list>", "where webhooks may be inside this network: hosts, addresses, networks"],
  ["--push-allow-loopback", "webhooks may be on this machine, also without TLS (default in dev)"],
  ["--no-push-allow-loopback", "they may not, whatever file and environment say"],
  ["--push-http", "webhooks may be called without TLS"],
  ["--no-push-http", "they may not, whatever file and environment say"],
  ["--push-snapshot", "a new webhook first gets the task as it stands (default)"],
  ["--no-push-snapshot", "it does not, whatever file and environment say"],
  ["--pushes-max <count>", "deliveries to webhooks at once"],
  ["--push-timeout-ms <ms>", "how long a webhook may take to answer"],
  ["--push-retry-ms <ms>", "before a delivery that failed is tried again; then twice as long each time"],
  ["--push-give-up-ms <ms>", "how long a delivery is tried before it is given up"],
];

const TELEMETRY_FLAGS: readonly FlagRow[] = [
  ["--metrics", "count what happens, for Prometheus, at /metrics (default)"],
  ["--no-metrics", "do not, whatever file and environment say"],
  ["--health-prefix <path>", "the path before /livez, /readyz and /info"],
  ["--admin-port <number>", "a port of its own for /admin and /metrics; else they are with everything else"],
  ["--admin-host <address>", "the address at which the admin port listens (default: 127.0.0.1)"],
  ["--log-bodies", "log what calls say, shortened and without what looks like a secret, at the level debug"],
  ["--trace-content", "put what callers and agents say into traces, shortened"],
];

const KEY_FLAGS: readonly FlagRow[] = [
  ["--sign-cards", "sign the cards of v1.0 and v0.3 (default)"],
  ["--no-sign-cards", "do not, whatever file and environment say"],
  ["--key-file <file>", "where the keys of the server are (default: keys.json in the data folder)"],
  ["--keys-command <words>", "a program that prints the keys"],
];

const PEER_FLAGS: readonly FlagRow[] = [
  ["--hops-max <count>", "servers that may pass a call on, one to another (default: 8)"],
  ["--call-allow <list>", "addresses inside that ctx.call may call, with commas between them"],
  ["--mcp", "offer the agents as tools to MCP clients, at /mcp"],
  ["--no-mcp", "do not, whatever file and environment say (default)"],
  ["--mcp-wait-ms <ms>", "how long such a tool waits for its task before it answers with a handle"],
  ["--mcp-servers <json>", "MCP servers whose tools agents can use"],
];

export const SERVE_HELP = `
Every option can also stand in dragoman.config.ts (publicUrl: "…") and in the environment (DRAGOMAN_PUBLIC_URL=…);
flags win over the environment, the environment over the file.`;

export function serveOptions(command: Command): Command {
  command.argument("[files...]", "agent files, globs or folders; none: the bundled examples");
  for (const row of FLAGS) command.addOption(toOption(row));
  command.option("--config <file>", "the config file (default: dragoman.config.ts, if there is one)");
  command.option("--json", "print the start as one line of JSON");
  for (const row of ACCESS_FLAGS) command.addOption(toOption(row).helpGroup("Who may call:"));
  for (const row of LIMIT_FLAGS) command.addOption(toOption(row).helpGroup("Limits:"));
  for (const row of PUSH_FLAGS) command.addOption(toOption(row).helpGroup("Webhooks:"));
  for (const row of TELEMETRY_FLAGS)
    command.addOption(toOption(row).helpGroup("What it tells about itself:"));
  for (const row of KEY_FLAGS) command.addOption(toOption(row).helpGroup("Keys:"));
  for (const row of PEER_FLAGS) command.addOption(toOption(row).helpGroup("Other agents and tools:"));
  return command;
}

function toOption([flag, about, choices]: FlagRow): Option {
  const option = new Option(flag, about);
  return choices ? option.choices(choices) : option;
}
