/** A server that is killed again and again, and callers who do not notice. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, startChild } from "../child.ts";
import { call, type Done } from "./caller.ts";
import { SPEAKERS, type Speaker } from "./speakers.ts";

export interface StormParts {
  readonly agents: readonly string[];
  readonly data: string;
  readonly callers: number;
  readonly kills: number;
  /** How long a server lives at least and at most. */
  readonly lifeMs: readonly [number, number];
  readonly speakers?: readonly Speaker[];
  /** From 0 to 1, by chance. */
  readonly chance: () => number;
}

export interface Storm {
  /** The server after the last kill. */
  readonly server: Child;
  /** All that was asked for, with what came. */
  readonly done: readonly Done[];
}

export async function rage(parts: StormParts): Promise<Storm> {
  const { chance, lifeMs, speakers = SPEAKERS } = parts;
  const flags = ["--log-level", "error", "--drain-ms", "0"];
  const options = { agents: parts.agents, data: parts.data, flags };
  let server = await startChild(options);
  let over = false;
  let finished = 0;

  async function caller(number: number): Promise<Done[]> {
    const speaker = speakers[number % speakers.length] as Speaker;
    const done: Done[] = [];
    for (let i = 0; !over; i++) {
      const how = chance() < 0.3 ? "send" : "stream";
      done.push(await call(server.url, speaker, `job-${number}-${i}`, how));
      finished += 1;
    }
    return done;
  }

  const callers = Promise.all(Array.from({ length: parts.callers }, (_, number) => caller(number)));
  // A caller that was refused ends the storm at once.
  callers.catch(() => (over = true));
  for (let kills = 0; kills < parts.kills && !over; kills++) {
    await sleep(lifeMs[0] + chance() * (lifeMs[1] - lifeMs[0]));
    await server.kill();
    server = await startChild({ ...options, port: server.port });
  }
  // However slow the machine is: some callers come back for a second time.
  while (finished <= parts.callers && !over) await sleep(10);
  over = true;
  return { server, done: (await callers).flat() };
}
