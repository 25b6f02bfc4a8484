/** Every option of the server: what it is for, what it may be, and what it is if nobody says. */
import { z } from "zod";
import { isAgentName, NAME_RULE } from "../agent/definition.ts";
import type { AgentSource } from "../loader/load-agents.ts";
import { LIMITS } from "../model/index.ts";
import { ACCESS_OPTIONS, type AccessOptions } from "./auth-options.ts";
import { CLUSTER_OPTIONS, type ClusterOptions } from "./cluster-options.ts";
import { KEY_OPTIONS, type KeyOptions } from "./key-options.ts";
import { LIMIT_OPTIONS, type LimitOptions } from "./limit-options.ts";
import { OAUTH_OPTIONS, type OAuthOptions } from "./oauth-options.ts";
import {
  asList,
  asText,
  asTruth,
  choice,
  count,
  file,
  folder,
  ms,
  type Option,
  type Profile,
  profile,
  whole,
} from "./option.ts";
import { PEER_OPTIONS, type PeerOptions } from "./outbound-options.ts";
import { PUSH_OPTIONS, type PushOptions } from "./push-options.ts";
import { TELEMETRY_OPTIONS, type TelemetryOptions } from "./telemetry-options.ts";

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent";

export interface Options
  extends AccessOptions,
    ClusterOptions,
    LimitOptions,
    TelemetryOptions,
    KeyOptions,
    OAuthOptions,
    PeerOptions,
    PushOptions {
  readonly port: number;
  readonly host: string;
  /** Where gRPC has a port of its own; undefined: it shares the port. */
  readonly grpcPort: number | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  /** An absolute folder, or ":memory:". */
  readonly data: string;
  readonly default: string | undefined;
  readonly publicUrl: string | undefined;
  readonly trustProxy: boolean;
  readonly httpFastPath: boolean;
  readonly cardPolicy: "hybrid" | "v1";
  readonly versionPolicy: "lenient" | "strict";
  readonly errorTable: "1.0.1" | "1.0.0";
  readonly langgraph: Profile;
  readonly orloj: Profile;
  readonly arbiter: Profile;
  readonly simple: Profile;
  readonly durability: "power" | "process";
  readonly acceptDataLoss: boolean;
  readonly logLevel: LogLevel;
  readonly bodyBytesMax: number;
  readonly runsMax: number;
  readonly streamsMax: number;
  readonly heartbeatMs: number;
  readonly cancelGraceMs: number;
  readonly drainMs: number;
  readonly leaseMs: number;
  readonly attemptsMax: number;
  readonly firstWordMs: number;
  readonly sendWaitMs: number;
  readonly sweepMs: number;
  readonly agents: readonly AgentSource[];
}
export type OptionName = keyof Options;

const publicUrl = z
  .string()
  .transform(text => text.replace(/\/+$/, ""))
  .refine(text => {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && !/[?#]/.test(text) && url.username === "";
  });

const agents = z.array(
  z.custom<AgentSource>(
    one => (typeof one === "string" && one !== "") || (typeof one === "object" && one !== null),
  ),
);

/** A folder, or a database that several servers may share. */
const place = z.union([folder, z.string().regex(/^postgres(?:ql)?:\/\/\S+$/)]);

export const OPTIONS: { readonly [K in OptionName]: Option<Options[K]> } = {
  port: whole(0, 65_535, {
    about: "Where to listen; 0: any free port; not set: 2024, or the next free one",
    fallback: 2024,
  }),
  host: {
    about: "The address to listen at; 0.0.0.0: all of them",
    expected: "a host name or an address",
    schema: z.string().regex(/^[^\s/]+$/),
    fallback: "127.0.0.1",
    fromText: asText,
  },
  grpcPort: whole<number | undefined>(0, 65_535, {
    about: "A port for gRPC alone; else it shares the port",
    fallback: undefined,
  }),
  tlsCert: file("The certificate, in PEM form: HTTPS is spoken"),
  tlsKey: file("The private key of the certificate, in PEM form"),
  data: {
    about: "The folder where tasks are kept, postgres://… for a database, or :memory:",
    expected: 'a folder, postgres://USER@HOST/DATABASE, or ":memory:"',
    schema: place,
    fallback: ".dragoman",
    fromText: asText,
  },
  default: {
    about: "The agent that answers at /; else the first one",
    expected: `an agent's name (${NAME_RULE})`,
    schema: z.string().refine(isAgentName),
    fallback: undefined,
    fromText: asText,
  },
  publicUrl: {
    about: "The URL under which callers reach this server, for its cards",
    expected: "an absolute http or https URL without query",
    schema: publicUrl,
    fallback: undefined,
    fromText: asText,
  },
  trustProxy: {
    about: "Believe X-Forwarded-* headers",
    expected: "true or false",
    schema: z.boolean(),
    fallback: false,
    fromText: asTruth,
  },
  httpFastPath: {
    about: "Read plain HTTP/1.1 requests without Node's HTTP parser, which costs less",
    expected: "true or false",
    schema: z.boolean(),
    fallback: true,
    fromText: asTruth,
  },
  cardPolicy: choice(["hybrid", "v1"], {
    about: "What a card is for a caller that names no version",
    fallback: "hybrid",
  }),
  versionPolicy: choice(["lenient", "strict"], {
    about: "Whether a call with a wrong or missing version is understood all the same",
    fallback: "lenient",
  }),
  errorTable: choice(["1.0.1", "1.0.0"], {
    about: "Which edition of the specification error numbers follow",
    fallback: "1.0.1",
  }),
  langgraph: profile("LangGraph Agent Server, at /a2a/NAME"),
  orloj: profile("Orloj, at /a2a and /v1/agent-systems/NAME/a2a"),
  arbiter: profile("Arbiter, at /v1/a2a/agents/NAME"),
  simple: profile("simple_a2a, at / and /agentCard"),
  durability: choice(["power", "process"], {
    about: "What a recorded event survives: a loss of power, or only the end of the process",
    fallback: "power",
  }),
  acceptDataLoss: {
    about: "Start although the store in the data folder is damaged or its keys are gone, with what is left",
    expected: "true or false",
    schema: z.boolean(),
    fallback: false,
    fromText: asTruth,
  },
  logLevel: choice(["trace", "debug", "info", "warn", "error", "silent"], {
    about: "How much is logged",
    fallback: "info",
  }),
  bodyBytesMax: whole(1_024, 1_073_741_824, {
    about: "Bytes of one request's body",
    fallback: LIMITS.bodyBytesMax,
  }),
  runsMax: count({ about: "Runs at once", fallback: LIMITS.runsMax }),
  streamsMax: count({ about: "Open streams at once", fallback: LIMITS.streamsMax }),
  heartbeatMs: ms(100, { about: "Between two comments on a stream", fallback: LIMITS.heartbeatMs }),
  cancelGraceMs: ms(0, {
    about: "How long an agent may go on after it was told to stop",
    fallback: LIMITS.cancelGraceMs,
  }),
  drainMs: ms(0, { about: "How long running agents may go on after SIGTERM", fallback: LIMITS.drainMs }),
  leaseMs: ms(1_000, { about: "How long a claim on a run holds without renewal", fallback: LIMITS.leaseMs }),
  attemptsMax: count({
    about: "Runs of one turn that may break off before the task fails",
    fallback: LIMITS.attemptsMax,
  }),
  firstWordMs: ms(0, {
    about: "How long a stream waits for the agent's first word before it shows the task",
    fallback: LIMITS.firstWordMs,
  }),
  sendWaitMs: ms(0, { about: "How long a blocking send waits for its task; 0: to the end", fallback: 0 }),
  sweepMs: ms(10, {
    about: "Between two looks for tasks that an agent's retention no longer keeps",
    fallback: LIMITS.sweepMs,
  }),
  ...ACCESS_OPTIONS,
  ...CLUSTER_OPTIONS,
  ...LIMIT_OPTIONS,
  ...PUSH_OPTIONS,
  ...PEER_OPTIONS,
  ...TELEMETRY_OPTIONS,
  ...KEY_OPTIONS,
  ...OAUTH_OPTIONS,
  agents: {
    about: "Agent files, globs and folders",
    expected: "a list of file names, globs, folders and agents",
    schema: agents,
    fallback: [],
    fromText: asList,
  },
};

/** `langgraph: "off"` in LangGraph's own words, as its config file has them: in a config file only. */
export const HTTP = {
  expected: "{ disable_a2a: true } or { disable_a2a: false }",
  schema: z.strictObject({ disable_a2a: z.boolean() }),
};
export type HttpConfig = z.infer<typeof HTTP.schema>;

export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[];

/** `publicUrl` as a variable: DRAGOMAN_PUBLIC_URL. */
export const envName = (option: string): string =>
  `DRAGOMAN_${kebab(option).replaceAll("-", "_").toUpperCase()}`;
/** `publicUrl` on the command line: --public-url. */
export const flagName = (option: string): string => `--${kebab(option)}`;
const kebab = (option: string): string => option.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
