import { quoteForShell } from "../terminal/terminal.ts";
import { formatCount } from "../terminal/text.ts";

/** The facts that are shown when the server is ready. */
export interface BannerFacts {
  readonly version: string;
  readonly program: string;
  readonly readyMs: number;
  /** Scheme, host and port, without a slash at the end. */
  readonly url: string;
  /** The default port, if it is in use and the server took the next free one. */
  readonly portInUse?: number | undefined;
  readonly publicUrl: string | undefined;
  /** The pages and endpoints of the server; undefined: it is switched off. */
  readonly console: string | undefined;
  readonly docs: string | undefined;
  readonly mcp: string | undefined;
  /** Host and port of gRPC; undefined: it shares those of the URL. */
  readonly grpc: string | undefined;
  /** The URL of the admin port; undefined: there is none. */
  readonly admin: string | undefined;
  /** The authentication methods. */
  readonly auth: readonly string[];
  readonly agents: readonly BannerAgent[];
  readonly defaultAgent: string;
  /** Why these agents are served. */
  readonly reason: string;
  /** The data folder or database; undefined: memory. */
  readonly data: string | undefined;
  /** What the config switches off. */
  readonly off: readonly string[];
  /** Unfinished tasks at the start, by agent. */
  readonly unfinished: ReadonlyMap<string, number>;
  /** Files are watched. */
  readonly watching: boolean;
}

export interface BannerAgent {
  readonly name: string;
  readonly description: string;
  /** Its id for LangGraph clients. */
  readonly assistantId: string;
}

export interface BannerStyle {
  bold(text: string): string;
  dim(text: string): string;
  /** The width of the terminal; undefined: not a terminal. */
  readonly columns: number | undefined;
  /** Also cards, assistants and gRPC. */
  readonly verbose: boolean;
}

const CARD = "/.well-known/agent-card.json";

export function bannerText(facts: BannerFacts, style: BannerStyle): string {
  const { bold, verbose } = style;
  const names = [...facts.agents.map(({ name }) => name), "resuming", "callers", "console"];
  const width = Math.max(...names.map(name => name.length)) + 2;
  const row = (name: string, ...values: readonly string[]) =>
    values.map((value, at) => `  ${(at === 0 ? name : "").padEnd(width)}${value}`);
  const optional = (name: string, value: string | undefined) => (value === undefined ? [] : row(name, value));
  return [
    `${bold(`Dragoman ${facts.version}`)} ready in ${Math.round(facts.readyMs)} ms${describePort(facts)}`,
    "",
    ...optional("console", facts.console === undefined ? undefined : bold(facts.console)),
    ...(facts.console === undefined ? [] : [""]),
    ...facts.agents.flatMap(agent => row(agent.name, ...describeAgent(facts, agent, style, 2 + width))),
    "",
    ...row("serving", facts.reason),
    ...optional("public", facts.publicUrl),
    ...optional("docs", facts.docs),
    ...optional("MCP", facts.mcp),
    ...(verbose || facts.grpc !== undefined ? row("gRPC", facts.grpc ?? new URL(facts.url).host) : []),
    ...optional("admin", facts.admin),
    ...row("data", facts.data ?? "in memory: tasks are lost at exit"),
    ...(facts.off.length === 0 ? [] : row("off", facts.off.join(", "))),
    ...(facts.unfinished.size === 0 ? [] : row("resuming", describeUnfinished(facts.unfinished))),
    ...(allowsAnonymous(facts) ? [] : row("callers", ...describeCallers(facts))),
    "",
    ...row("try", `${facts.program} call ${quoteForShell(facts.url)} "hello"`, curlLine(facts)),
    ...(facts.watching ? ["", "Watching for changes; Ctrl-C stops"] : []),
    "",
  ].join("\n");
}

const describePort = ({ url, portInUse }: BannerFacts): string =>
  portInUse === undefined
    ? ""
    : ` on port ${new URL(url).port} (port ${portInUse} is in use; choose one with --port)`;

/** One line: the address, and as much of the description as fits. With --verbose also card and assistant. */
function describeAgent(
  facts: BannerFacts,
  agent: BannerAgent,
  { dim, columns = 120, verbose }: BannerStyle,
  indent: number,
): readonly string[] {
  // With the slash: clients look for the card below the address that they are given.
  const url = `${facts.url}/agents/${agent.name}/`;
  const isDefault = agent.name === facts.defaultAgent ? `, also at ${facts.url}/` : "";
  if (verbose)
    return [`${url}${isDefault}`, dim(`${url}${CARD.slice(1)}`), dim(`assistant ${agent.assistantId}`)];
  const room = columns - indent - url.length - isDefault.length - 2;
  const [sentence = ""] = agent.description.split(/(?<=\.)\s|\n/);
  return [`${url}${isDefault}${sentence.length <= room && sentence !== "" ? `  ${dim(sentence)}` : ""}`];
}

function describeUnfinished(unfinished: ReadonlyMap<string, number>): string {
  const total = [...unfinished.values()].reduce((sum, one) => sum + one, 0);
  const each = [...unfinished].map(([name, tasks]) => `${name} ${tasks}`).join(", ");
  return `${formatCount(total, "unfinished task")}: ${each}`;
}

const allowsAnonymous = ({ auth }: BannerFacts): boolean => auth.includes("none");
const usesTokens = ({ auth }: BannerFacts): boolean => auth.includes("tokens") || auth.includes("jwt");

function describeCallers(facts: BannerFacts): readonly string[] {
  const { auth, program, data } = facts;
  const where = data === undefined ? "" : ` --data ${quoteForShell(data)}`;
  return [
    `authentication required (${auth.join(", ")})`,
    ...(auth.includes("tokens") ? [`create a token: ${program} token create --principal me${where}`] : []),
    ...(usesTokens(facts) ? ["the commands below take it from the variable DRAGOMAN_TOKEN"] : []),
  ];
}

function curlLine(facts: BannerFacts): string {
  const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hello" }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
  const token = usesTokens(facts) ? ' -H "Authorization: Bearer $DRAGOMAN_TOKEN"' : "";
  const headers = `-H 'Content-Type: application/json' -H 'A2A-Version: 1.0'${token}`;
  // Not at "/": in its strict profile simple_a2a answers there alone.
  return `curl -s ${quoteForShell(`${facts.url}/agents/${facts.defaultAgent}`)} ${headers} -d ${quoteForShell(body)}`;
}

/** The same for programs, in one line. */
export function bannerJson(facts: BannerFacts): string {
  const agents = facts.agents.map(({ name, assistantId }) => ({
    name,
    default: name === facts.defaultAgent,
    url: `${facts.url}/agents/${name}`,
    card: `${facts.url}/agents/${name}${CARD}`,
    assistantId,
  }));
  const { version, url, portInUse, publicUrl, console, docs, mcp, grpc, admin, reason, data } = facts;
  return JSON.stringify({
    ready: true,
    version,
    readyMs: Math.round(facts.readyMs),
    url,
    portInUse,
    publicUrl,
    console,
    docs,
    mcp,
    grpc,
    admin,
    serving: reason,
    data: data ?? ":memory:",
    off: facts.off.length > 0 ? facts.off : undefined,
    unfinished: Object.fromEntries(facts.unfinished),
    agents,
  });
}
