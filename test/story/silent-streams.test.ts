import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { LIMITS } from "../../src/model/index.ts";
import { endChildren, startChild, writeAgent } from "../support/child.ts";
import { openStream, rpc, type Stream, sendParams, until } from "../support/client.ts";
import { readLiveMemory, writeMemoryAgent } from "../support/memory-agent.ts";
import { tempFolder } from "../support/server.ts";
import { partsText, taskOf } from "../support/wire.ts";

const STREAMS = 400;
/**
 * Memory of one stream: its socket and its agent's function need 3 KB, and it was 20 KB before decision 0023.
 */
const LIVE_BYTES_MAX = 12_000;

const folder = tempFolder();
afterEach(async () => {
  await endChildren();
  folder.remove();
});

/** Silent until a message "go": then all waiting runs send text. */
const writeSilent = (): string =>
  writeAgent(
    folder.path,
    "silent",
    `
    const waiting = (globalThis.waiting ??= new Set());
    if (task.text === "go") {
      for (const go of waiting) go();
      return;
    }
    await new Promise(resolve => waiting.add(resolve));
    yield ctx.text("at ");
    yield ctx.text("last");`,
  );

async function open(url: string, count: number): Promise<readonly Stream[]> {
  const streams = await Promise.all(
    Array.from({ length: count }, () => openStream(url, "SendStreamingMessage", sendParams("wait"))),
  );
  for (const stream of streams) expect((await stream.next())?.data.result.task).toBeDefined();
  // Long enough for their logs to leave memory.
  await pause(3 * LIMITS.tailIdleMs);
  return streams;
}

const textOf = (events: readonly { readonly data: { readonly result: Result } }[]): string =>
  events.map(({ data }) => partsText(data.result.artifactUpdate?.artifact.parts ?? [])).join("");
interface Result {
  readonly artifactUpdate?: { readonly artifact: { readonly parts: [] } };
}

test("silent streams cost little more than their sockets, and get all later events", async () => {
  const { url } = await startChild({
    agents: [writeSilent(), writeMemoryAgent(folder.path)],
    data: join(folder.path, "data"),
    flags: ["--durability", "process", "--log-level", "warn"],
  });
  const first = await open(url, 100);
  const before = await readLiveMemory(url);
  const streams = await open(url, STREAMS);
  // Their logs leave memory after a while: how long that takes does not matter here.
  await until(async () => (await readLiveMemory(url)) - before < STREAMS * LIVE_BYTES_MAX);

  const [gone, ...staying] = [...first, ...streams];
  gone?.close();
  const { body } = await rpc(url, "ListTasks", { pageSize: 1, status: "TASK_STATE_WORKING" });
  const late = await openStream(
    url,
    "SubscribeToTask",
    { id: body.result.tasks[0].id },
    { "Last-Event-ID": "0" },
  );
  expect(taskOf((await rpc(url, "SendMessage", sendParams("go"))).body).status.state).toBe(
    "TASK_STATE_COMPLETED",
  );
  for (const stream of [late, ...staying]) {
    const events = await stream.all();
    expect(textOf(events)).toBe("at last");
    expect(events.at(-1)?.data.result.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
  }
});
