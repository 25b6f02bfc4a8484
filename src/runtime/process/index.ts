/** Agents that are programs in any language: `program({ name, command: ["python3", "agent.py"] })`. */
import { resolve } from "node:path";
import { type AgentDefinition, type AgentTask, agent, type Ctx, type Said } from "../../agent/definition.ts";
import { equippable, type Surroundings } from "../shared/bind-environment.ts";
import { HISTORY_DEFAULT, HISTORY_MAX } from "../shared/history.ts";
import {
  checkOptions,
  type Described,
  describedIn,
  ms,
  needed,
  RULES,
  type Rules,
  whole,
} from "../shared/options.ts";
import { Child, type Command } from "./child.ts";
import { createPool, type Pool } from "./pool.ts";
import { Talk, type TalkParts } from "./session.ts";

export interface ProgramOptions extends Described {
  /** The program and its arguments; no shell has a part in it. */
  readonly command: readonly string[];
  /** Where it runs; default: the folder of the config or of the agent file. A relative path starts there. */
  readonly cwd?: string | undefined;
  /** Variables of its environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Names of variables of the server's environment that it gets, besides PATH, HOME and the like. */
  readonly passEnv?: readonly string[] | undefined;
  /** So many processes serve one turn after another; default: a process for each run. */
  readonly pool?: number | undefined;
  /** How long a process of the pool is kept without work; default: one minute. */
  readonly idleMs?: number | undefined;
  /** How long a program may go on after it was told to end; default: two seconds. */
  readonly graceMs?: number | undefined;
  /** How long a turn may take; default: as long as it takes. */
  readonly turnMs?: number | undefined;
  /** How many earlier messages of the context it gets; default: 100. */
  readonly history?: number | undefined;
}

const isCommand = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value[0] !== "" &&
  value.every(word => typeof word === "string" && !word.includes("\0"));

const OPTION_RULES: Rules<ProgramOptions> = {
  command: needed({ expected: 'a list of words, such as ["python3", "agent.py"]', is: isCommand }),
  cwd: RULES.text,
  env: RULES.texts,
  passEnv: RULES.list,
  pool: whole(0, 1_000),
  idleMs: ms(1),
  graceMs: ms(0),
  turnMs: ms(1),
  history: whole(0, HISTORY_MAX),
};
const DEFAULTS = { idleMs: 60_000, graceMs: 2_000 };

export function program(options: ProgramOptions): AgentDefinition {
  checkOptions("program()", options, OPTION_RULES);
  let command = toCommand(options, { folder: ".", variable: () => undefined });
  const { pool: max = 0, idleMs = DEFAULTS.idleMs, turnMs, history: historyMax = HISTORY_DEFAULT } = options;
  const pool = createPool({ open: () => new Child(command), max, idleMs });
  const takesMore = options.acceptsWhileWorking === true;
  const parts: TalkParts = { turnMs, historyMax, takesMore, isPooled: max > 0 };
  const definition: AgentDefinition = {
    description: `The program ${options.command.join(" ")}`,
    ...describedIn(options),
    run: (task, ctx) => run(pool, parts, task, ctx),
  };
  const equip = (surroundings: Surroundings): void => {
    command = toCommand(options, surroundings);
  };
  return agent(equippable(definition, equip));
}

async function* run(pool: Pool, parts: TalkParts, task: AgentTask, ctx: Ctx): AsyncGenerator<Said> {
  for (let isAgain = false; ; isAgain = true) {
    const child = await pool.take(ctx.signal);
    const talk = new Talk(child, parts, task, ctx);
    try {
      return yield* talk.run();
    } catch (error) {
      // A process of the pool may end while it has nothing to do, and nobody has noticed yet.
      if (!parts.isPooled || isAgain || !talk.isUnheard) throw error;
    } finally {
      if (talk.isOver && !ctx.signal.aborted) pool.give(child);
      else pool.drop(child);
    }
  }
}

/** What a program may need to be found, to find its files, and to write as its user reads. */
const PASSED = "PATH HOME USER LANG LC_ALL TZ TMPDIR TMP TEMP SYSTEMROOT PATHEXT".split(" ");
/** Words that wait in a buffer are not heard: Python buffers what goes into a pipe. */
const PYTHON = { PYTHONUNBUFFERED: "1", PYTHONUTF8: "1" };

function toCommand(options: ProgramOptions, { folder, variable }: Surroundings): Command {
  const names = [...PASSED, ...(options.passEnv ?? [])];
  const passed = names.flatMap(name => {
    const value = variable(name);
    return value === undefined ? [] : [[name, value]];
  });
  return {
    words: options.command as readonly [string, ...string[]],
    folder: resolve(folder, options.cwd ?? "."),
    env: { ...PYTHON, ...Object.fromEntries(passed), ...options.env },
    graceMs: options.graceMs ?? DEFAULTS.graceMs,
  };
}
