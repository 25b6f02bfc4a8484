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
  /** Host and port of gRPC; undefined: it shares those of the URL. */
  readonly grpc: string | undefined;
  /** The URL of the admin port; undefined: there is none. */
  readonly admin: string | undefined;
  /** The authentication methods. */
  readonly auth: readonly string[];
  readonly agents: readonly string[];
  readonly defaultAgent: string;
  /** The data folder or database; undefined: memory. */
  readonly data: string | undefined;
  /** What the config switches off. */
  readonly off: readonly string[];
  /** Unfinished tasks at the start, by agent. */
  readonly unfinished: ReadonlyMap<string, number>;
  /** Files are watched. */
  readonly watching: boolean;
}

export interface BannerPaint {
  bold(text: string): string;
  dim(text: string): string;
}

const CARD = "/.well-known/agent-card.json";

export function bannerText(facts: BannerFacts, paint: BannerPaint): string {
  const names = [...facts.agents, "public", "resuming", "callers", "data"];
  const width = Math.max(...names.map(name => name.length)) + 2;
  const row = (name: string, ...values: readonly string[]) =>
    values.map((value, at) => `  ${(at === 0 ? name : "").padEnd(width)}${value}`);
  return [
    `${paint.bold(`Dragoman ${facts.version}`)} ready in ${Math.round(facts.readyMs)} ms${describePort(facts)}`,
    "",
    ...facts.agents.flatMap(name => row(name, ...listAddresses(facts, name, paint))),
    "",
    ...(facts.publicUrl === undefined ? [] : row("public", facts.publicUrl)),
    ...(facts.grpc === undefined ? [] : row("gRPC", facts.grpc)),
    ...(facts.admin === undefined ? [] : row("admin", facts.admin)),
    ...row("data", facts.data ?? "in memory: tasks are lost at exit"),
    ...(facts.off.length === 0 ? [] : row("off", facts.off.join(", "))),
    ...(facts.unfinished.size === 0 ? [] : row("resuming", describeUnfinished(facts.unfinished))),
    ...(allowsAnonymous(facts) ? [] : row("callers", ...describeCallers(facts))),
    "",
    ...row(
      "try",
      `${facts.program} call ${facts.url} "hello"${tokenFlag(facts, "--header")}`,
      curlLine(facts),
    ),
    ...(facts.watching ? ["", "Watching for changes; Ctrl-C stops"] : []),
    "",
  ].join("\n");
}

const describePort = ({ url, portInUse }: BannerFacts): string =>
  portInUse === undefined
    ? ""
    : ` on port ${new URL(url).port} (port ${portInUse} is in use; choose one with --port)`;

function listAddresses(facts: BannerFacts, name: string, paint: BannerPaint): readonly string[] {
  const own = `${facts.url}/agents/${name}`;
  const card = paint.dim(`${own}${CARD}`);
  return name === facts.defaultAgent ? [`${facts.url}/`, own, card] : [own, card];
}

function describeUnfinished(unfinished: ReadonlyMap<string, number>): string {
  const total = [...unfinished.values()].reduce((sum, one) => sum + one, 0);
  const each = [...unfinished].map(([name, tasks]) => `${name} ${tasks}`).join(", ");
  return `${formatCount(total, "unfinished task")}: ${each}`;
}

const allowsAnonymous = ({ auth }: BannerFacts): boolean => auth.includes("none");

function describeCallers({ auth, program, data }: BannerFacts): readonly string[] {
  const where = data === undefined ? "" : ` --data ${quoteForShell(data)}`;
  const hint = `create a token: ${program} token create --principal me${where}`;
  return [`authentication required (${auth.join(", ")})`, ...(auth.includes("tokens") ? [hint] : [])];
}

/** The user sets the variable TOKEN. */
const tokenFlag = ({ auth }: BannerFacts, flag: string): string =>
  auth.includes("tokens") || auth.includes("jwt") ? ` ${flag} "Authorization: Bearer $TOKEN"` : "";

function curlLine(facts: BannerFacts): string {
  const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hello" }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
  const headers = `-H 'Content-Type: application/json' -H 'A2A-Version: 1.0'${tokenFlag(facts, "-H")}`;
  return `curl -s ${quoteForShell(`${facts.url}/`)} ${headers} -d ${quoteForShell(body)}`;
}

/** The same for programs, in one line. */
export function bannerJson(facts: BannerFacts): string {
  const agents = facts.agents.map(name => ({
    name,
    default: name === facts.defaultAgent,
    url: `${facts.url}/agents/${name}`,
    card: `${facts.url}/agents/${name}${CARD}`,
  }));
  const { version, url, portInUse, publicUrl, grpc, admin, data } = facts;
  return JSON.stringify({
    ready: true,
    version,
    readyMs: Math.round(facts.readyMs),
    url,
    portInUse,
    publicUrl,
    grpc,
    admin,
    data: data ?? ":memory:",
    off: facts.off.length > 0 ? facts.off : undefined,
    unfinished: Object.fromEntries(facts.unfinished),
    agents,
  });
}
