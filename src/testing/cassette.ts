/** Recorded answers: the results of the steps of a real task, to be played back instead of executing them. */
import {
  type Message,
  type RecordedEvent,
  type StepKey,
  type StepRecord,
  textOfEvent,
} from "../model/index.ts";
import { createEnvironment } from "../server/clock.ts";
import { openStoreAdmin } from "../server/open-store-admin.ts";

export interface CassetteTurn {
  /** The message of the caller. */
  readonly message: Message;
  /** What the turn got from the world: results of `ctx.step`, `ctx.call`, models and tools, `ctx.now`, `ctx.random`. */
  readonly steps: readonly StepRecord[];
  /** The text that the agent wrote. */
  readonly text: string;
}

/** Plain JSON: keep it in a file beside the test. */
export interface Cassette {
  readonly agent: string;
  readonly turns: readonly CassetteTurn[];
}

export interface CassettePlayer {
  /** The recorded result of a step in this turn; null: not recorded, the step is executed. */
  find(turn: number, key: StepKey): StepRecord | null;
}

/** The cassette of a task in the store of a real server, which may be running. `data`: as the option `data`. */
export async function readCassette(data: string, taskId: string): Promise<Cassette> {
  const { wallTime, ticks } = createEnvironment().clock;
  const admin = await openStoreAdmin({ data, now: wallTime, ticks });
  const history = await admin.readHistory(taskId);
  if (!history) throw new Error(`Task not found in ${admin.location}: ${taskId}`);
  if (history.snapshot)
    throw new Error(`The events of the task ${taskId} were deleted by the retention of its agent`);
  return toCassette(history.events);
}

export function toCassette(events: readonly RecordedEvent[]): Cassette {
  const turns: { message: Message; steps: StepRecord[]; texts: Map<string, string> }[] = [];
  let agent = "";
  for (const { event } of events) {
    const turn = turns.at(-1);
    if (event.type === "created") agent = event.agent;
    else if (event.type === "message" && !event.again)
      turns.push({ message: event.message, steps: [], texts: new Map() });
    // The end of a sleep is a time of the real clock.
    else if (event.type === "noted" && event.note.kind !== "sleep") turn?.steps.push(event.note);
    else if (event.type === "artifact" && turn) {
      const { artifactId } = event.artifact;
      const before = event.append ? (turn.texts.get(artifactId) ?? "") : "";
      turn.texts.set(artifactId, before + textOfEvent(event));
    }
  }
  return {
    agent,
    turns: turns.map(({ message, steps, texts }) => ({ message, steps, text: [...texts.values()].join("") })),
  };
}

/** `missing`: what happens to a step that was not recorded. */
export function createPlayer(cassette: Cassette, missing: "fail" | "run"): CassettePlayer {
  return {
    find(turn, { kind, name, nth }) {
      if (kind === "sleep") return null;
      const steps = cassette.turns[turn - 1]?.steps ?? [];
      const found = steps.find(one => one.kind === kind && one.name === name && one.nth === nth);
      if (found || kind !== "step" || missing === "run") return found ?? null;
      throw new Error(
        `The cassette has no result of the step "${name}" (number ${nth}) in turn ${turn}. ` +
          'Record it again, or execute such steps with { missingSteps: "run" }',
      );
    },
  };
}
