import { Command } from "commander";
import { type CommandFile, EXIT } from "../../src/cli/command.ts";
import { CLI_LIMITS } from "../../src/cli/limits.ts";
import { CLIENT_LIMITS, SERVER_CALL_LIMITS } from "../../src/client/limits.ts";
import {
  envName,
  flagName,
  getOption,
  OPTION_NAMES,
  OPTIONS,
  type OptionName,
  RENAMED,
} from "../../src/config/options/index.ts";
import type { Json } from "../../src/lib/json.ts";
import { FAULTS, type FaultCode, LIMITS } from "../../src/model/index.ts";
import type { Dialect, WireCall } from "../../src/ports/index.ts";
import { createDialects } from "../../src/protocol/index.ts";
import { METRICS } from "../../src/telemetry/metrics.ts";
import { SETTINGS } from "./server.ts";
import { readTree } from "./tidy-tree.ts";

/** The tables that documents must have, created from the code: each row as its cells. */

type Rows = readonly (readonly string[])[];
const tick = (text: string): string => `\`${text}\``;

const dialectsWith = (errorTable: "1.0.1" | "1.0.0"): readonly Dialect[] =>
  createDialects({ ...SETTINGS, v11: "on", errorTable });
export const DIALECTS = dialectsWith("1.0.1");

const CODES = Object.keys(FAULTS) as FaultCode[];

/** docs/reference/faults.md: code, meaning, and the statuses of the dialects that have more than JSON-RPC. */
export function faultRows(): Rows {
  const older = dialectsWith("1.0.0");
  return CODES.map(code => [
    tick(code),
    FAULTS[code],
    ...["v1", "v03"].flatMap(name => {
      const { http, grpc } = dialectOf(name, DIALECTS).faults[code];
      const other = dialectOf(name, older).faults[code];
      return [withOther(http, other.http), withOther(grpc, other.grpc)];
    }),
  ]);
}

const dialectOf = (name: string, among: readonly Dialect[]): Dialect =>
  among.find(one => one.name === name) as Dialect;

/** The folder in src/protocol: the official versions say whose they are. */
const FOLDERS: Readonly<Record<string, string>> = { simple: "simple-a2a", agui: "ag-ui", aisdk: "ai-sdk-ui" };
const folderOfDialect = (name: string): string => FOLDERS[name] ?? (/^v\d/.test(name) ? `a2a-${name}` : name);

/** docs/reference/faults.md: the error code of each fault in each dialect. */
export const numberRows = (): Rows => [
  ["fault", ...DIALECTS.map(({ name }) => name)],
  ...CODES.map(code => [tick(code), ...DIALECTS.map(dialect => numberOf(dialect, code))]),
];

/** A dialect without JSON-RPC has the HTTP status instead. */
const numberOf = ({ routes, faults }: Dialect, code: FaultCode): string =>
  routes.some(({ transport }) => transport === "jsonrpc")
    ? String(faults[code].rpc)
    : `HTTP ${faults[code].http}`;

const withOther = <T>(now: T, before: T): string => (now === before ? `${now}` : `${now} (${before})`);

/** docs/reference/config.md: name, flag, variable, default, values, purpose. */
export function optionRows(): Rows {
  return OPTION_NAMES.map(name => [
    tick(name),
    flagOf(name),
    tick(envName(name)),
    defaultOf(name),
    OPTIONS[name].expected.replaceAll('"', "`"),
    OPTIONS[name].help,
  ]);
}

function flagOf(name: OptionName): string {
  if (name === "agents") return "arguments";
  return OPTIONS[name].isFlag ? tick(flagName(name)) : "none: it is secret";
}

/** docs/reference/config.md: former name, present name. */
export const renamedRows = (): Rows =>
  Object.entries(RENAMED).map(([former, name]) => [
    [former, flagName(former), envName(former)].map(tick).join(", "),
    [name, flagName(name), envName(name)].map(tick).join(", "),
  ]);

function defaultOf(name: OptionName): string {
  const { default: value, defaultText } = getOption(name);
  if (defaultText !== undefined) return defaultText;
  const isNothing = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return value === undefined || value === "" || isNothing ? "none" : tick(String(value));
}

/**
 * docs/reference/limits.md: name, value, and the option that changes it. The reason is only in the document.
 */
export const limitRows = (): Rows =>
  Object.entries(LIMITS).map(([name, value]) => [
    tick(name),
    value.toLocaleString("en"),
    Object.hasOwn(OPTIONS, name) ? tick(flagName(name)) : "",
  ]);

/** docs/operate/observe.md: name, kind, labels, and description. */
export const metricRows = (): Rows =>
  Object.values(METRICS).map(({ name, kind, labels, help }) => [
    tick(name),
    kind,
    labels.map(tick).join(", "),
    help,
  ]);

export const cliLimitRows = (): Rows => boundRows(CLI_LIMITS);
export const clientLimitRows = (): Rows => boundRows({ ...CLIENT_LIMITS, ...SERVER_CALL_LIMITS });

const boundRows = (limits: Readonly<Record<string, number | readonly number[]>>): Rows =>
  Object.entries(limits).map(([name, value]) => [
    tick(name),
    (typeof value === "number" ? [value] : value).map(one => one.toLocaleString("en")).join("; "),
  ]);

const TRANSPORTS = { jsonrpc: "JSON-RPC", rest: "HTTP+JSON", document: "document", grpc: "gRPC" } as const;

/**
 * The same path below each mount of the official dialects is one row: `…` stands for the mount. v1's paths
 * exist with a tenant as well, of which `v1` is one.
 */
function inShort(path: string, dialect: string): string {
  if (dialect === "v03") return path.replace(/^(?:\/agents\/\{agent\})?/, "…");
  if (dialect === "v1" || dialect === "v11")
    return path.replace(/^(?:\/agents\/\{agent\})?(?:\/\{tenant\}|\/v1)?/, "…");
  return path;
}

/** docs/reference/http.md: verb, path, transport, and the dialects that have the route. */
export function routeRows(): Rows {
  const routes = new Map<string, { readonly cells: readonly string[]; readonly names: Set<string> }>();
  for (const { name, routes: own } of DIALECTS)
    for (const { verb, path, transport } of own) {
      const shown = transport === "rest" ? inShort(path, name) : path;
      const cells = [tick(verb), tick(shown), TRANSPORTS[transport]];
      const key = cells.join(" ");
      routes.set(key, { cells, names: new Set([...(routes.get(key)?.names ?? []), name]) });
    }
  return [...routes.values()].map(({ cells, names }) => [...cells, [...names].join(", ")]);
}

/** Every method of a dialect, and its operation. */
export async function methodsOf(dialect: Dialect): Promise<ReadonlyMap<string, string>> {
  const { METHODS } = (await import(`../../src/protocol/${folderOfDialect(dialect.name)}/routes.ts`)) as {
    METHODS: object;
  };
  return new Map(Object.keys(METHODS).map(method => [method, operationOf(dialect, method)]));
}

function operationOf(dialect: Dialect, method: string): string {
  let refusal: unknown;
  for (const role of ["ROLE_USER", "user"]) {
    const message = { messageId: "m1", role, parts: [{ kind: "text", type: "text", text: "hello" }] };
    try {
      return dialect.decode(toCall(method, { message, id: "t1", contextId: "c1", ...PUSH, ...CHAT })).op;
    } catch (error) {
      refusal = error;
    }
  }
  throw refusal;
}

/** The parameters of push methods. */
const PUSH = {
  taskId: "t1",
  url: "https://hooks.example/",
  pushNotificationConfig: { url: "https://hooks.example/" },
  pushNotificationConfigId: "p1",
};

/** The parameters of front ends. */
const CHAT = {
  model: "echo",
  input: "hello",
  threadId: "c1",
  runId: "r1",
  messages: [{ id: "m1", role: "user", content: "hello", parts: [{ type: "text", text: "hello" }] }],
};

const toCall = (method: string, params: Json): WireCall => ({
  transport: "jsonrpc",
  endpoint: "/",
  vars: { id: "c1" },
  certificate: () => undefined,
  headers: { accept: "*/*" },
  query: new URLSearchParams(),
  base: () => "http://localhost",
  method,
  params,
  metadata: undefined,
  bytes: 0,
  signal: () => AbortSignal.abort(),
});

/** The names of operations, as the port spells them. */
export function operations(): readonly string[] {
  const { text } = readTree("src/ports/operation.ts");
  const union = /^export type Operation =[\s\S]*?^\);/m.exec(text)?.[0] ?? "";
  return [...union.matchAll(/readonly op: "([\w-]+)"/g)].map(found => found[1] as string);
}

/** The members of `ctx`, as authors of agents see it. */
export function ctxMembers(): readonly string[] {
  const { text } = readTree("src/agent/context.ts");
  const body = /^export interface Ctx\b.*\{\n([\s\S]*?)^\}/m.exec(text)?.[1] ?? "";
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)[(:<]/gm)].map(found => found[1] as string);
}

/** All commands, in the order of the help, from the program itself. */
export async function commands(): Promise<readonly Command[]> {
  const program = new Command("dragoman");
  for (const found of readTree("src/cli/main.ts").text.matchAll(/import\("\.\/commands\/(\w+)\.ts"\),/g)) {
    const file = (await import(`../../src/cli/commands/${found[1]}.ts`)) as CommandFile;
    file.define(program, undefined as never);
  }
  return program.commands;
}

export const usageOf = (command: Command): string =>
  ["dragoman", command.name(), "[options]", ...command.registeredArguments.map(toUsage)].join(" ");

function toUsage(argument: Command["registeredArguments"][number]): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** docs/reference/cli.md: flag, and its line of the help, with choices and default. */
export const flagRows = (command: Command): Rows =>
  command.options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, description, argChoices, defaultValue }) => [
      tick(flags),
      [
        description,
        argChoices ? `: ${argChoices.map(tick).join(", ")}` : "",
        // A flag that begins with --no- is on by default.
        typeof defaultValue === "number" ? ` (default: ${defaultValue})` : "",
      ].join(""),
    ]);

export const exitCodes = (): readonly string[] => Object.values(EXIT).map(String);
