import { expect, test } from "vitest";
import { createLog, type LogOptions } from "./log.ts";

const AT = Date.UTC(2026, 10, 15, 12, 3, 4);

function recorded(parts: Partial<LogOptions>) {
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    pretty: false,
    colour: false,
    now: () => AT,
    write: text => lines.push(text),
    ...parts,
  });
  return { log, lines };
}

test("machines get one JSON object per line, with level, time, facts and text", () => {
  const { log, lines } = recorded({});
  log.info({ agent: "echo", runs: 2 }, "started");
  expect(lines).toEqual([
    '{"level":"info","time":"2026-11-15T12:03:04.000Z","agent":"echo","runs":2,"msg":"started"}\n',
  ]);
});

test("what is below the level is not written", () => {
  const { log, lines } = recorded({ level: "warn" });
  log.debug({}, "no");
  log.info({}, "no");
  log.warn({}, "yes");
  log.error({}, "yes");
  expect(lines).toHaveLength(2);
});

test("a silent log writes nothing", () => {
  const { log, lines } = recorded({ level: "silent" });
  log.error({}, "no");
  expect(lines).toEqual([]);
});

test("an error among the facts keeps its message and its stack", () => {
  const { log, lines } = recorded({});
  log.error({ error: new Error("it broke") }, "a run failed");
  const { error } = JSON.parse(lines[0] as string) as { error: { message: string; stack: string } };
  expect(error.message).toBe("it broke");
  expect(error.stack).toContain("log.test.ts");
});

test("people get a line with the time of day, and a stack below it", () => {
  const { log, lines } = recorded({ pretty: true });
  log.warn({ agent: "echo", list: [1, 2] }, "slow");
  const clock = new Date(AT).toTimeString().slice(0, 8);
  expect(lines[0]).toBe(`${clock} warn  slow  agent=echo  list=[1,2]\n`);
  log.error({ err: new Error("it broke") }, "failed");
  expect(lines[1]).toMatch(/error failed\n {2}Error: it broke\n {6}at /);
});

test("an error has the name of its class in JSON, and its causes below its stack for people", () => {
  class Refused extends Error {}
  const err = new Refused("no", { cause: new RangeError("too far") });
  const machine = recorded({});
  machine.log.error({ err }, "failed");
  expect(JSON.parse(machine.lines[0] as string).err).toMatchObject({
    type: "Refused",
    message: "no",
    cause: { type: "RangeError", message: "too far" },
  });
  const people = recorded({ pretty: true });
  people.log.error({ err }, "failed");
  expect(people.lines[0]).toMatch(/Error: no\n {6}at [\s\S]*\n {2}caused by: RangeError: too far\n {6}at /);
});

test("colour is only used where it was asked for", () => {
  const { log, lines } = recorded({ pretty: true, colour: true });
  log.info({}, "hello");
  expect(lines[0]).toContain("\u001b[36minfo \u001b[39m hello");
});
