import type { Settings } from "../../config/config.ts";
import type { Agent, Log } from "../../ports/index.ts";
import { addressFiles, removeAddress, writeAddress } from "../../server/address-file.ts";
import { toUuid } from "../../server/catalog.ts";
import type { RunningServer, ServerParts } from "../../server/create-server.ts";
import { isPostgresUrl, toLocation } from "../../server/open-store-admin.ts";
import { toReachable } from "../../server/services.ts";
import type { LevelSwitch } from "../../telemetry/level.ts";
import type { CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { paint, type Terminal } from "../terminal/terminal.ts";
import { formatCount } from "../terminal/text.ts";
import { createActivityLines } from "./activity-lines.ts";
import { type BannerAgent, type BannerFacts, type BannerStyle, bannerJson, bannerText } from "./banner.ts";
import { type AgentDevelopment, createDevelopment } from "./development.ts";
import { type LoadResult, load } from "./load.ts";
import { type Reloader, startReloader } from "./reload.ts";
import { untilStopped } from "./stop.ts";

export interface ServeOptions {
  readonly files: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  readonly json: boolean;
  /** The banner shows all addresses. */
  readonly verbose: boolean;
  /** Agents are loaded again when their files change. */
  readonly watch: boolean;
}

export type StartServer = (parts: ServerParts) => Promise<RunningServer>;

/** Serves agents until a signal comes. Resolves with the exit code. */
export async function serveAgents(
  context: CommandContext,
  options: ServeOptions,
  startServer: StartServer,
): Promise<number> {
  const { terminal } = context;
  const output = createOutput(terminal, CLI_LIMITS.waitingDelayMs);
  const development = options.watch ? startDevelopment(terminal, output, options) : undefined;
  const loadAt = async (generation: number): Promise<LoadResult> => {
    const loaded = await load({ ...options, cwd: terminal.cwd, generation });
    return development ? { ...loaded, agents: loaded.agents.map(development.wrap) } : loaded;
  };
  output.startWaiting("loading agents");
  const first = await loadAt(0).finally(output.stopWaiting);
  context.debug = first.settings.logLevel === "debug" || first.settings.logLevel === "trace";
  const log = await openLog(terminal, first.settings);
  for (const warning of first.settings.warnings) log.warn({}, warning);
  const removeSignal = await toggleLevelOnSignal(terminal, log);
  // An unhandled rejection in one agent must not end the server.
  terminal.onUnhandledRejection(error => log.error({ error }, "unhandled promise rejection"));
  output.startWaiting("starting the server");
  const server = await startServer({ ...first, log, levels: log, development }).finally(output.stopWaiting);
  const facts = toBannerFacts(terminal, options, first, server);
  const { data } = first.settings;
  const files = addressFiles(terminal.cwd, isFolder(data) ? data : undefined);
  let reloader: Reloader | undefined;
  // Before the banner: a program that waits for it may send a signal at once.
  const stopped = untilStopped({
    terminal,
    stop: () => {
      removeAddress(files, facts.url);
      return stop(server, output, reloader).finally(removeSignal);
    },
    onStopping: () => output.note(describeStop(server.running)),
  });
  writeAddress(files, facts.url);
  if (options.json) output.line(bannerJson(facts));
  else terminal.out.write(bannerText(facts, bannerStyle(terminal, options.verbose)));
  if (options.watch)
    reloader = startReloader({ terminal, output, json: options.json, server, first, load: loadAt });
  return stopped;
}

/** One line per call and run; an exception in a timer of an agent ends its run and not the server. */
function startDevelopment(terminal: Terminal, output: Output, { json }: ServeOptions): AgentDevelopment {
  const lines = createActivityLines(terminal, output, json);
  const development = createDevelopment({
    cwd: terminal.cwd,
    ticks: terminal.sinceStartMs,
    onActivity: lines.show,
    onStray: lines.showStray,
  });
  terminal.onUncaughtException(development.onUncaught);
  return development;
}

const isFolder = (data: string): boolean => data !== ":memory:" && !isPostgresUrl(data);

async function openLog(terminal: Terminal, { logLevel }: Settings) {
  const { createLog } = await import("../../telemetry/log.ts");
  const { err, now } = terminal;
  return createLog({ level: logLevel, pretty: err.tty, colour: err.colour, now, write: err.write });
}

/** SIGUSR2 turns debug on, and off again. */
async function toggleLevelOnSignal(terminal: Terminal, log: Log & LevelSwitch): Promise<() => void> {
  const { createToggle } = await import("../../telemetry/level.ts");
  const toggle = createToggle(log);
  return terminal.onSignal("SIGUSR2", () => log.warn({ logLevel: toggle() }, "the log level was changed"));
}

function toBannerFacts(
  terminal: Terminal,
  options: ServeOptions,
  { settings, ...loaded }: LoadResult,
  server: RunningServer,
): BannerFacts {
  const url = toReachable(server.url);
  const at = (path: string): string | undefined => (server.hasRoute(path) ? `${url}${path}` : undefined);
  return {
    version: terminal.version,
    program: terminal.program,
    readyMs: terminal.sinceStartMs(),
    url,
    portInUse: server.portInUse,
    publicUrl: settings.publicUrl,
    grpc: server.grpc,
    admin: server.admin,
    auth: settings.auth,
    console: at("/console"),
    docs: at("/docs"),
    mcp: at("/mcp"),
    agents: loaded.agents.filter(({ policy }) => policy.access !== "internal").map(toBannerAgent),
    reason: loaded.reason,
    defaultAgent: loaded.defaultAgent,
    data: settings.data === ":memory:" ? undefined : toLocation(settings.data),
    off: listOff(settings),
    unfinished: server.unfinished,
    watching: options.watch,
  };
}

/** A server that does less than usual says so: callers would look for an error elsewhere. */
function listOff({ a2a, langgraphFile }: Settings): readonly string[] {
  const parts = (langgraphFile?.off ?? []).filter(part => part !== "a2a");
  return [...(a2a ? [] : ["A2A"]), ...parts.map(part => `${part} (http.disable_${part})`)];
}

const toBannerAgent = ({ name, card }: Agent): BannerAgent => ({
  name,
  // The description of an agent without one is made of its name.
  description: card.description === `The agent ${name}` ? "" : card.description,
  assistantId: toUuid(name),
});

const bannerStyle = ({ out }: Terminal, verbose: boolean): BannerStyle => ({
  bold: text => paint(out, "bold", text),
  dim: text => paint(out, "dim", text),
  columns: out.tty ? out.columns : undefined,
  verbose,
});

const describeStop = (runs: number): string =>
  runs === 0
    ? "stopping; press Ctrl-C again to stop now"
    : `finishing ${formatCount(runs, "run")}; press Ctrl-C again to stop now`;

async function stop(server: RunningServer, output: Output, reloader: Reloader | undefined): Promise<void> {
  reloader?.close();
  output.startWaiting("waiting for runs to finish");
  await server.stop();
  output.stopWaiting();
  output.note("stopped");
}

/** `json` and `verbose` belong to the command line; the other flags are options of the server. */
export function toServeOptions(
  files: readonly string[],
  flags: Readonly<Record<string, unknown>>,
  watch: boolean,
): ServeOptions {
  const { json, verbose, ...others } = flags;
  return { files, flags: others, json: json === true, verbose: verbose === true, watch };
}
