import { shellWord } from "../terminal/terminal.ts";
import { count } from "../terminal/text.ts";

/** What a user wants to know when a server is up. */
export interface BannerFacts {
  readonly version: string;
  readonly program: string;
  readonly readyMs: number;
  /** Scheme, host and port, without a slash at the end. */
  readonly url: string;
  /** The default port, where another program has it: then the server has taken the next free one. */
  readonly portInUse?: number | undefined;
  readonly publicUrl: string | undefined;
  /** Host and port of gRPC; undefined: those of the URL. */
  readonly grpc: string | undefined;
  /** Where administrators are answered; undefined: at the URL. */
  readonly admin: string | undefined;
  /** How callers show who they are. */
  readonly auth: readonly string[];
  readonly agents: readonly string[];
  readonly fallback: string;
  /** The folder of the data; undefined: memory. */
  readonly data: string | undefined;
  /** Tasks that were not finished when the server stopped, by agent. */
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
    ...facts.agents.flatMap(name => row(name, ...addressesOf(facts, name, paint))),
    "",
    ...(facts.publicUrl === undefined ? [] : row("public", facts.publicUrl)),
    ...(facts.grpc === undefined ? [] : row("gRPC", facts.grpc)),
    ...(facts.admin === undefined ? [] : row("admin", facts.admin)),
    ...row("data", facts.data ?? "in memory: tasks are lost at exit"),
    ...(facts.unfinished.size === 0 ? [] : row("resuming", describeUnfinished(facts.unfinished))),
    ...(isOpen(facts) ? [] : row("callers", ...describeCallers(facts))),
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
    : ` on port ${new URL(url).port} (another program has port ${portInUse}; choose one with --port)`;

function addressesOf(facts: BannerFacts, name: string, paint: BannerPaint): readonly string[] {
  const own = `${facts.url}/agents/${name}`;
  const card = paint.dim(`${own}${CARD}`);
  return name === facts.fallback ? [`${facts.url}/`, own, card] : [own, card];
}

function describeUnfinished(unfinished: ReadonlyMap<string, number>): string {
  const total = [...unfinished.values()].reduce((sum, one) => sum + one, 0);
  const each = [...unfinished].map(([name, tasks]) => `${name} ${tasks}`).join(", ");
  return `${count(total, "task")} that had not ended: ${each}`;
}

const isOpen = ({ auth }: BannerFacts): boolean => auth.includes("none");

function describeCallers({ auth, program, data }: BannerFacts): readonly string[] {
  const where = data === undefined ? "" : ` --data ${shellWord(data)}`;
  const hint = `make a token: ${program} token create --principal me${where}`;
  return [`must show who they are (${auth.join(", ")})`, ...(auth.includes("tokens") ? [hint] : [])];
}

/** The token itself is for the user to put in. */
const tokenFlag = ({ auth }: BannerFacts, flag: string): string =>
  auth.includes("tokens") || auth.includes("jwt") ? ` ${flag} "Authorization: Bearer $TOKEN"` : "";

function curlLine(facts: BannerFacts): string {
  const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hello" }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
  const headers = `-H 'Content-Type: application/json' -H 'A2A-Version: 1.0'${tokenFlag(facts, "-H")}`;
  return `curl -s ${shellWord(`${facts.url}/`)} ${headers} -d ${shellWord(body)}`;
}

/** The same for programs, in one line. */
export function bannerJson(facts: BannerFacts): string {
  const agents = facts.agents.map(name => ({
    name,
    default: name === facts.fallback,
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
    unfinished: Object.fromEntries(facts.unfinished),
    agents,
  });
}
