/** Agents that are programs in any language: `program({ name, command: ["python3", "agent.py"] })`. */
import { resolve } from "node:path";
import type { AgentOutput, AgentTask, Ctx } from "../../agent/context.ts";
import { type AgentDefinition, agent } from "../../agent/definition.ts";
import { LIMITS } from "../../model/index.ts";
import { type Environment, withEnvironment } from "../shared/bind-environment.ts";
import { Child, type Command } from "../shared/child.ts";
import { HISTORY_DEFAULT, HISTORY_MAX } from "../shared/history.ts";
import {
  type CommonOptions,
  checkOptions,
  integer,
  milliseconds,
  type OptionRules,
  pickCommonOptions,
  RULES,
  required,
} from "../shared/options.ts";
import { createPool, type Pool } from "./pool.ts";
import { ProgramTurn, type ProgramTurnParts } from "./program-turn.ts";

export interface ProgramOptions extends CommonOptions {
  /** The program and its arguments; it is started without a shell. */
  readonly command: readonly string[];
  /** The working directory, relative to the folder of the config or of the agent file; default: that folder. */
  readonly cwd?: string | undefined;
  /** Environment variables. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Names of variables of the server's environment that are passed, besides PATH, HOME and the like. */
  readonly passEnv?: readonly string[] | undefined;
  /** The number of processes that serve one turn after another; default: a process for each run. */
  readonly pool?: number | undefined;
  /** How long an idle process stays in the pool; default: one minute. */
  readonly idleMs?: number | undefined;
  /** The time between closing standard input, SIGTERM and SIGKILL; default: two seconds. */
  readonly graceMs?: number | undefined;
  /** The timeout of a turn; default: none. */
  readonly turnMs?: number | undefined;
  /** The number of earlier messages of the context that the program gets; default: 100. */
  readonly history?: number | undefined;
}

const isCommand = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value[0] !== "" &&
  value.every(argument => typeof argument === "string" && !argument.includes("\0"));

const OPTION_RULES: OptionRules<ProgramOptions> = {
  command: required({ expected: 'an array of strings, such as ["python3", "agent.py"]', is: isCommand }),
  cwd: RULES.string,
  env: RULES.stringRecord,
  passEnv: RULES.stringList,
  pool: integer(0, 1_000),
  idleMs: milliseconds(1),
  graceMs: milliseconds(0),
  turnMs: milliseconds(1),
  history: integer(0, HISTORY_MAX),
};

export function program(options: ProgramOptions): AgentDefinition {
  checkOptions("program()", options, OPTION_RULES);
  let command = toCommand(options, { folder: ".", variable: () => undefined });
  const { pool: max = 0, idleMs = 60_000, turnMs, history: historyMax = HISTORY_DEFAULT } = options;
  const pool = createPool({ open: () => new Child(command), max, idleMs });
  const forwardsMessages = options.acceptsWhileWorking === true;
  const parts: ProgramTurnParts = { turnMs, historyMax, forwardsMessages, isPooled: max > 0 };
  const definition: AgentDefinition = {
    description: `The program ${options.command.join(" ")}`,
    ...pickCommonOptions(options),
    run: (task, ctx) => run(pool, parts, task, ctx),
  };
  const bind = (environment: Environment): void => {
    command = toCommand(options, environment);
  };
  return agent(withEnvironment(definition, bind));
}

async function* run(
  pool: Pool,
  parts: ProgramTurnParts,
  task: AgentTask,
  ctx: Ctx,
): AsyncGenerator<AgentOutput> {
  for (let isRetry = false; ; isRetry = true) {
    const child = await pool.acquire(ctx.signal);
    const turn = new ProgramTurn(child, parts, task, ctx);
    try {
      return yield* turn.run();
    } catch (error) {
      // A pooled process may have exited while it was idle, before it got the turn.
      if (!parts.isPooled || isRetry || !turn.isUnread) throw error;
    } finally {
      if (turn.isComplete && !ctx.signal.aborted) pool.release(child);
      else pool.discard(child);
    }
  }
}

/** Variables that most programs need: to be found, to find their files, and for their locale. */
const PASSED = "PATH HOME USER LANG LC_ALL TZ TMPDIR TMP TEMP SYSTEMROOT PATHEXT".split(" ");
/** Python buffers its output to a pipe by default. */
const PYTHON = { PYTHONUNBUFFERED: "1", PYTHONUTF8: "1" };

function toCommand(options: ProgramOptions, { folder, variable }: Environment): Command {
  const names = [...PASSED, ...(options.passEnv ?? [])];
  const passed = names.flatMap(name => {
    const value = variable(name);
    return value === undefined ? [] : [[name, value]];
  });
  return {
    argv: options.command as readonly [string, ...string[]],
    folder: resolve(folder, options.cwd ?? "."),
    env: { ...PYTHON, ...Object.fromEntries(passed), ...options.env },
    graceMs: options.graceMs ?? 2_000,
    lineBytesMax: LIMITS.programLineBytesMax,
  };
}
