// Executes the text of a turn, which is JavaScript; one turn after another.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const Script = Object.getPrototypeOf(async () => {}).constructor;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const read = async () => {
  const { value, done } = await lines.next();
  return done ? undefined : JSON.parse(value);
};
const say = (type, more = {}) => void process.stdout.write(`${JSON.stringify({ type, ...more })}\n`);
const text = words => say("text", { text: words });
/** Runs a step once. */
const step = async (name, work) => {
  say("step", { name });
  const reply = await read();
  if (reply.done) return reply.value;
  say("stepped", { value: await work() });
  return (await read()).value;
};

for (;;) {
  const turn = await read();
  if (turn === undefined) break;
  if (turn.type !== "turn") continue;
  const script = new Script("turn", "say", "text", "step", "read", "sleep", "spawn", turn.text);
  await script(turn, say, text, step, read, sleep, spawn);
}
