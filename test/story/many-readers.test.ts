import { afterEach, expect, test } from "vitest";
import { openStream, type SseEvent, sendParams, until } from "../support/client.ts";
import { createGate, nextTurn } from "../support/gate.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import { foldText, idsOf, isAscending, summaryOf } from "../support/wire.ts";

const READERS = 20;
const CHUNKS = 300;

const servers: TestServer[] = [];
const folders: ReturnType<typeof tempFolder>[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  for (const folder of folders.splice(0)) folder.remove();
});

/** The same random choices in every run. */
function createChance(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

interface Plan {
  readonly method: string;
  /** Joins when this many chunks were sent. */
  readonly joins: number;
  /** Leaves after this many events; Infinity: stays. */
  readonly leaves: number;
  /** Joins with the id of an earlier event. */
  readonly after: string | undefined;
}

for (const data of ["memory", "sqlite"])
  test(`${READERS} readers of both dialects join and leave: each gets the same events in the same order (${data})`, async () => {
    const folder = tempFolder();
    folders.push(folder);
    const begin = createGate();
    let chunks = 0;
    const server = await serve(
      [
        {
          name: "talker",
          async *run(_task, ctx) {
            yield ctx.status("ready");
            await begin.opened;
            for (; chunks < CHUNKS; chunks++) {
              yield ctx.text(`${chunks} `);
              if (chunks % 4 === 0) await nextTurn();
              if (chunks % 50 === 0) yield ctx.status(`at ${chunks}`);
            }
          },
        },
      ],
      { data: data === "memory" ? ":memory:" : folder.path },
    );
    servers.push(server);
    const chance = createChance(data.length);
    const master = await openStream(server.url, "SendStreamingMessage", sendParams("talk"));
    const first = (await master.next()) as SseEvent;
    const { id } = first.data.result.task;

    const plans = Array.from({ length: READERS }, (_, i): Plan => {
      const joins = i < 4 ? 0 : chance(CHUNKS - 20);
      return {
        method: i % 2 === 0 ? "SubscribeToTask" : "tasks/resubscribe",
        joins,
        leaves: i % 3 === 0 ? 1 + chance(60) : Number.POSITIVE_INFINITY,
        after: i % 5 === 4 ? String(2 + chance(3)) : undefined,
      };
    });
    const read = async (plan: Plan): Promise<SseEvent[]> => {
      await until(() => chunks >= plan.joins);
      const headers: Record<string, string> = plan.after === undefined ? {} : { "last-event-id": plan.after };
      const stream = await openStream(server.url, plan.method, { id }, headers);
      const seen: SseEvent[] = [];
      for (let event = await stream.next(); event; event = await stream.next()) {
        seen.push(event);
        if (seen.length >= plan.leaves) stream.close();
        if (seen.length >= plan.leaves) return seen;
      }
      return seen;
    };
    const readers = plans.map(read);
    begin.open();
    const all = [first, ...(await master.all())];
    const log = all.slice(1).map(summaryOf);
    const whole = Array.from({ length: CHUNKS }, (_, i) => `${i} `).join("");
    expect(foldText(all)).toBe(whole);

    for (const [i, plan] of plans.entries()) {
      const seen = (await readers[i]) as SseEvent[];
      expect(isAscending(idsOf(seen))).toBe(true);
      const events = seen.map(summaryOf);
      const start = plan.after === undefined ? (events.shift()?.id as number) : Number(plan.after);
      // Its first event has the position; from there on it got the log, and nothing else.
      expect(events).toEqual(log.filter(one => one.id > start).slice(0, events.length));
      if (plan.leaves === Number.POSITIVE_INFINITY) {
        expect(events.at(-1)?.what ?? summaryOf(seen[0] as SseEvent).what).toMatch(/completed$/);
        expect(plan.after === undefined ? foldText(seen) : whole).toBe(whole);
      }
    }
  });
