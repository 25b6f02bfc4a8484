import { type Command, Option } from "commander";

/** A flag of the server and its line in the help. What it may be is checked by config/, with file and environment. */
type FlagRow = readonly [flag: string, about: string, choices?: readonly string[]];

const PROFILES = ["on", "strict", "off"];

/** Written down here once more, and held in step by a test, so that `--help` need not load what config/ needs. */
const FLAGS: readonly FlagRow[] = [
  ["--port <number>", "where to listen; 0: any free port (default: 2024)"],
  ["--host <address>", "the address to listen at; 0.0.0.0: all of them (default: 127.0.0.1)"],
  ["--grpc-port <number>", "a port for gRPC alone; else it shares the port, and with TLS has the next one"],
  ["--tls-cert <file>", "the certificate, in PEM form: HTTPS is spoken"],
  ["--tls-key <file>", "the private key of the certificate, in PEM form"],
  ["--data <folder>", "the folder where tasks are kept, or :memory: (default: .dragoman)"],
  ["--default <name>", "the agent that answers at /; else the first one"],
  ["--public-url <url>", "the URL under which callers reach this server, for its cards"],
  ["--trust-proxy", "believe X-Forwarded-* headers"],
  ["--no-trust-proxy", "do not, whatever file and environment say"],
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
  ["--log-level <level>", "how much is logged", ["trace", "debug", "info", "warn", "error", "silent"]],
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
  ["--sweep-ms <ms>", "between two looks for tasks that an agent's retention no longer keeps"],
];

export const SERVE_HELP = `
Every option can also stand in dragoman.config.ts (publicUrl: "…") and in the environment (DRAGOMAN_PUBLIC_URL=…);
flags win over the environment, the environment over the file.`;

export function serveOptions(command: Command): Command {
  command.argument("[files...]", "agent files, globs or folders; none: the bundled examples");
  for (const row of FLAGS) command.addOption(toOption(row));
  command.option("--config <file>", "the config file (default: dragoman.config.ts, if there is one)");
  command.option("--json", "print the start as one line of JSON");
  for (const row of LIMIT_FLAGS) command.addOption(toOption(row).helpGroup("Limits:"));
  return command;
}

function toOption([flag, about, choices]: FlagRow): Option {
  const option = new Option(flag, about);
  return choices ? option.choices(choices) : option;
}
