import { isAgentName, NAME_RULE } from "../../agent/definition.ts";
import { boolean, choice, file, isLocalPath, type Option, port, text } from "./option.ts";

const isHost = (host: string): boolean => /^[^\s/]+$/.test(host);

function isPublicUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && !/[?#]/.test(text) && url.username === "";
}

const isPostgresUrl = (url: string): boolean => /^postgres(?:ql)?:\/\/\S+$/.test(url);

export const host = (help: string) =>
  text({
    help,
    default: "127.0.0.1",
    placeholder: "address",
    expected: "a host name or an address",
    isValid: isHost,
  });

/** A vendor's dialect: with the parts that its document lacks, exactly as its document says, or switched off. */
const dialect = (vendor: string) =>
  choice(["on", "strict", "off"], { help: `Dialect of ${vendor}`, default: "on", placeholder: "profile" });

/** A protocol of chat windows. */
const frontEnd = (protocol: string) =>
  choice(["on", "off"], { help: protocol, default: "on", placeholder: "state" });

export const SERVER_OPTIONS = {
  port: port({
    help: "Port to listen on; 0: any free port",
    default: 2024,
    defaultText: "2024, or the next free port",
  }),
  host: host("Address to listen on; 0.0.0.0: all interfaces"),
  grpcPort: port({ help: "Separate port for gRPC; otherwise gRPC shares the HTTP port", default: undefined }),
  grpcReflection: choice(["on", "off"], {
    help: "Server reflection over gRPC, for tools such as grpcurl",
    default: "on",
    placeholder: "state",
  }),
  tlsCert: file("TLS certificate (PEM file); enables HTTPS"),
  tlsKey: file("Private key of the TLS certificate (PEM file)"),
  data: {
    ...text({
      help: "Data folder, URL of a Postgres database, or :memory:",
      default: ".dragoman",
      placeholder: "place",
      expected: 'a folder, postgres://USER@HOST/DATABASE, or ":memory:"',
      isValid: place => isLocalPath(place) || isPostgresUrl(place),
    }),
    isPath: true,
  } as Option<string>,
  notify: text({
    help: "NATS server through which the nodes of a cluster notify each other; otherwise through the database",
    default: undefined,
    placeholder: "url",
    formerly: "bell",
    expected: "a URL such as nats://host:4222",
    isValid: url => /^(?:nats|tls):\/\/\S+$/.test(url),
  }),
  databaseDirectUrl: text({
    help: "Direct URL of the database, where --data leads to a connection pooler such as PgBouncer",
    default: undefined,
    placeholder: "url",
    expected: "a URL such as postgres://USER@HOST/DATABASE",
    isValid: isPostgresUrl,
  }),
  default: text({
    help: "Agent that is served at /",
    default: undefined,
    defaultText: "the first agent",
    placeholder: "name",
    expected: `an agent's name (${NAME_RULE})`,
    isValid: isAgentName,
  }),
  publicUrl: text({
    help: "URL under which callers reach this server, for its agent cards",
    default: undefined,
    placeholder: "url",
    expected: "an absolute http or https URL without query",
    normalize: url => url.replace(/\/+$/, ""),
    isValid: isPublicUrl,
  }),
  trustProxy: boolean({ help: "Trust X-Forwarded-* headers", default: false }),
  httpFastPath: boolean({
    help: "Parse plain HTTP/1.1 requests without Node's HTTP parser, which costs less",
    default: true,
  }),
  cardPolicy: choice(["hybrid", "v1"], {
    help: "Form of the agent card for callers that name no version",
    default: "hybrid",
    placeholder: "policy",
  }),
  versionPolicy: choice(["lenient", "strict"], {
    help: "Whether calls with a wrong or missing version are accepted",
    default: "lenient",
    placeholder: "policy",
  }),
  errorTable: choice(["1.0.1", "1.0.0"], {
    help: "Edition of the specification that error codes follow",
    default: "1.0.1",
    placeholder: "edition",
  }),
  v11: choice(["on", "off"], {
    help: "Draft of A2A 1.1, for calls with A2A-Version: 1.1, and long polling for calls of 1.0",
    default: "off",
    placeholder: "switch",
  }),
  a2a: boolean({ help: "Serve A2A, in all its versions and dialects", default: true }),
  langgraph: dialect("LangGraph Agent Server, at /a2a/NAME"),
  langgraphApi: choice(["on", "off"], {
    help: "API of LangGraph Agent Server: /assistants, /threads, /runs, /ok",
    default: "on",
    placeholder: "switch",
  }),
  orloj: dialect("Orloj, at /a2a and /v1/agent-systems/NAME/a2a"),
  arbiter: dialect("Arbiter, at /v1/a2a/agents/NAME"),
  simple: dialect("simple_a2a, at / and /agentCard"),
  openai: frontEnd("OpenAI API, at /v1 and /agents/NAME/v1"),
  aisdk: frontEnd("AI SDK UI (useChat), at /agents/NAME/chat"),
  agui: frontEnd("AG-UI, at /agents/NAME/ag-ui"),
  catalog: frontEnd("Catalogs, at /.well-known/ai-catalog.json and /.well-known/api-catalog"),
  durability: choice(["power", "process"], {
    help: "Failure that a recorded event survives: a loss of power, or only the end of the process",
    default: "power",
    placeholder: "kind",
  }),
  acceptDataLoss: boolean({
    help: "Start even if the store is damaged or its keys are missing, with the data that is left",
    default: false,
  }),
  logLevel: choice(["trace", "debug", "info", "warn", "error", "silent"], {
    help: "Lowest level that is logged",
    default: "info",
    placeholder: "level",
  }),
};
