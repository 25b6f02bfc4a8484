import { equal } from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHandler } from "dragoman";
import { createSingleNodeStore } from "dragoman/store";
import { type StoreUnderTest, storeContract } from "dragoman/testing/contracts";
import { createFileBackend, createFileStore } from "./store.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "file-store-"));

/** The store of one case, whose disk can be full. */
function create(): StoreUnderTest {
  const folder = newFolder();
  const file = join(folder, "tasks.jsonl");
  let isFull = false;
  const write = (descriptor: number, text: string): void => {
    if (isFull) throw new Error("ENOSPC: the disk is full");
    writeSync(descriptor, text);
  };
  return {
    open: parts => createSingleNodeStore({ ...parts, backend: createFileBackend(file, write) }),
    isPersistent: true,
    setFull: full => void (isFull = full),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

for (const { name, run } of storeContract(create))
  await run().catch(error => {
    throw new Error(`${name}: ${error.message}`, { cause: error });
  });

/** A server with the store: its tasks are there after a restart, and after a line that was cut off. */
const folder = newFolder();
const file = join(folder, "tasks.jsonl");
const start = () =>
  createHandler({
    agents: [{ name: "echo", run: task => task.text }],
    data: ":memory:",
    store: parts => createFileStore(parts, file),
  });

async function call(method: string, params: object): Promise<{ id: string; status: { state: string } }> {
  const server = await start();
  const response = await server.fetch(
    new Request("http://localhost/", {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    }),
  );
  const { result } = (await response.json()) as {
    result: { task: { id: string; status: { state: string } } };
  };
  await server.close();
  return result.task ?? result;
}

const message = { messageId: "1", role: "ROLE_USER", parts: [{ text: "hello" }] };
const { id } = await call("SendMessage", { message });
appendFileSync(file, '{"changes":[{"sco');
const read = await call("GetTask", { id });
equal(read.status.state, "TASK_STATE_COMPLETED");
equal(readFileSync(file, "utf8").endsWith("\n"), true);
rmSync(folder, { recursive: true });
process.stdout.write("ok\n");
