import type { Settings } from "../../config/config.ts";
import type { Log } from "../../ports/index.ts";
import type { Running, ServerParts } from "../../server/create-server.ts";
import type { LevelSwitch } from "../../telemetry/level.ts";
import type { Session } from "../command.ts";
import { toShown } from "../commands/open-store.ts";
import { CLI_LIMITS } from "../limits.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { paint, type Terminal } from "../terminal/terminal.ts";
import { count } from "../terminal/text.ts";
import { type BannerFacts, bannerJson, bannerText } from "./banner.ts";
import { type Loadout, load } from "./load.ts";
import { type Reloading, startReloading } from "./reload.ts";
import { untilStopped } from "./stop.ts";

export interface HostWish {
  readonly files: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  readonly json: boolean;
  /** Agents are loaded again when their files change. */
  readonly watch: boolean;
}

export type StartServer = (parts: ServerParts) => Promise<Running>;

/** Serves agents until a signal comes; the value is the exit code. */
export async function host(session: Session, wish: HostWish, startServer: StartServer): Promise<number> {
  const { terminal } = session;
  const loadAt = (generation: number) => load({ ...wish, cwd: terminal.cwd, generation });
  const output = createOutput(terminal, CLI_LIMITS.patienceMs);
  output.waiting("loading agents");
  const first = await loadAt(0).finally(output.rest);
  session.debug = first.settings.logLevel === "debug" || first.settings.logLevel === "trace";
  const log = await openLog(terminal, first.settings);
  for (const note of first.settings.notes) log.warn({}, note);
  const deafen = await listenForLevel(terminal, log);
  // A promise that an agent forgot must not end the server with all its other agents.
  terminal.onStray(error => log.error({ error }, "a promise failed and nobody was waiting for it"));
  output.waiting("starting the server");
  const server = await startServer({ ...first, log, levels: log }).finally(output.rest);
  let reloading: Reloading | undefined;
  // Before the banner: whoever waits for it may send a signal at once.
  const stopped = untilStopped({
    terminal,
    stop: () => stop(server, output, reloading).finally(deafen),
    say: () => output.note(stopping(server.running)),
  });
  const facts = factsOf(terminal, wish, first, server);
  if (wish.json) output.line(bannerJson(facts));
  else terminal.out.write(bannerText(facts, bannerPaint(terminal)));
  if (wish.watch)
    reloading = startReloading({ terminal, output, json: wish.json, server, first, load: loadAt });
  return stopped;
}

async function openLog(terminal: Terminal, { logLevel }: Settings) {
  const { createLog } = await import("../../telemetry/log.ts");
  const { err, now } = terminal;
  return createLog({ level: logLevel, pretty: err.tty, colour: err.colour, now, write: err.write });
}

/** SIGUSR2 turns debug on, and off again. */
async function listenForLevel(terminal: Terminal, log: Log & LevelSwitch): Promise<() => void> {
  const { createToggle } = await import("../../telemetry/level.ts");
  const toggle = createToggle(log);
  return terminal.onSignal("SIGUSR2", () => log.warn({ logLevel: toggle() }, "the log level was changed"));
}

function factsOf(
  terminal: Terminal,
  wish: HostWish,
  { settings, ...loadout }: Loadout,
  server: Running,
): BannerFacts {
  return {
    version: terminal.version,
    program: terminal.program,
    readyMs: terminal.sinceStartMs(),
    // An address that means "all of them" is nothing to call.
    url: server.url.replace(/\/\/(0\.0\.0\.0|\[::\])/, "//127.0.0.1"),
    portInUse: server.portInUse,
    publicUrl: settings.publicUrl,
    grpc: server.grpc,
    admin: server.admin,
    auth: settings.auth,
    agents: loadout.agents.map(agent => agent.name),
    fallback: loadout.fallback,
    data: settings.data === ":memory:" ? undefined : toShown(settings.data),
    unfinished: server.unfinished,
    watching: wish.watch,
  };
}

const bannerPaint = ({ out }: Terminal) => ({
  bold: (text: string) => paint(out, "bold", text),
  dim: (text: string) => paint(out, "dim", text),
});

const stopping = (runs: number): string =>
  runs === 0
    ? "stopping; press Ctrl-C again to stop now"
    : `finishing ${count(runs, "run")}; press Ctrl-C again to stop now`;

async function stop(server: Running, output: Output, reloading: Reloading | undefined): Promise<void> {
  reloading?.close();
  output.waiting("waiting for runs to finish");
  await server.stop();
  output.rest();
  output.note("stopped");
}

/** The flags that config/ checks: all but those of the command line itself. */
export function toHostWish(
  files: readonly string[],
  flags: Readonly<Record<string, unknown>>,
  watch: boolean,
): HostWish {
  const { json, ...others } = flags;
  return { files, flags: others, json: json === true, watch };
}
