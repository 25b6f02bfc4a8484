import { describe, expect, test } from "vitest";
import booking from "../../examples/booking.ts";
import countdown from "../../examples/countdown.ts";
import echo from "../../examples/echo.ts";
import reporter from "../../examples/reporter.ts";
import research from "../../examples/research.ts";
import slow from "../../examples/slow.ts";
import { Conversation } from "../../test/support/turn.ts";
import { type StepRecord, textOf } from "../model/index.ts";
import { toAgent } from "./function/index.ts";

const text = (words: string) => ({ kind: "text", text: words });
const question = (conversation: Conversation) => textOf(conversation.task.status.message?.parts ?? []);

test("echo repeats the message, in two chunks of one artifact", async () => {
  const conversation = new Conversation().addMessage("hello");
  expect(await conversation.run(echo)).toHaveLength(2);
  expect(conversation.task.artifacts).toMatchObject([{ name: "response", parts: [text("You said: hello")] }]);
});

test("countdown reports progress and streams its numbers", async () => {
  const conversation = new Conversation().addMessage("from 2, please");
  const events = await conversation.run(countdown);
  expect(events.map(event => event.type)).toEqual(["status", "artifact", "artifact", "artifact"]);
  expect(conversation.task.artifacts).toMatchObject([{ parts: [text("2 … 1 … Lift-off!")] }]);
});

test("countdown begins at 5 when there is no number, and stops when it is canceled", async () => {
  const conversation = new Conversation().addMessage("go");
  const running = conversation.run(countdown);
  running.catch(() => {});
  await expect.poll(() => conversation.task.artifacts.length).toBe(1);
  conversation.abort.abort();
  await expect(running).rejects.toMatchObject({ name: "AbortError" });
  expect(question(conversation)).toBe("Counting down from 5");
  expect(conversation.task.artifacts).toMatchObject([{ parts: [text(expect.stringMatching(/^5 … /))] }]);
});

test("reporter outputs text, data and a file", async () => {
  const conversation = new Conversation().addMessage("to be or not to be");
  await conversation.run(reporter);
  const [words, counts, file] = conversation.task.artifacts;
  expect(words?.parts).toEqual([text("6 words, 4 different.")]);
  expect(counts?.parts).toEqual([
    { kind: "data", data: { total: 6, words: { to: 2, be: 2, or: 1, not: 1 } } },
  ]);
  const part = file?.parts[0];
  expect(part).toMatchObject({ kind: "bytes", filename: "words.csv", mediaType: "text/csv" });
  const csv = Buffer.from(part?.kind === "bytes" ? part.bytes : "", "base64").toString();
  expect(csv).toBe("word,count\nto,2\nbe,2\nor,1\nnot,1\n");
});

test("reporter rejects a message without words", async () => {
  const conversation = new Conversation().addMessage("42");
  await conversation.run(reporter);
  expect(conversation.task.status.state).toBe("rejected");
});

test("research asks no source twice: recorded results are used", async () => {
  const conversation = new Conversation().addMessage("octopuses");
  const step = { kind: "step", nth: 1, value: 7 } as const;
  const asked: StepRecord[] = ["the archive", "the library", "the web"].map(name => ({
    ...step,
    name: `ask ${name}`,
  }));
  const slept = [1, 2].map((nth): StepRecord => ({ kind: "sleep", name: "500", nth, value: 0 }));
  conversation.steps.push({ ...step, kind: "now", name: "", value: 0 }, ...asked, ...slept);
  await conversation.run(research);
  const [words, summary] = conversation.task.artifacts;
  expect(words?.parts).toMatchObject([text(expect.stringContaining("- the web has 7 pages"))]);
  expect(summary?.parts).toMatchObject([{ data: { pages: 21, begun: "1970-01-01T00:00:00.000Z" } }]);
});

describe("booking", () => {
  const booked = (conversation: Conversation) =>
    conversation.task.artifacts.flatMap(one => one.parts).find(part => part.kind === "data")?.data;

  test("asks for the day, and books when it has it", async () => {
    const conversation = new Conversation().addMessage("I want to go to New York");
    await conversation.run(booking);
    expect(conversation.task.status.state).toBe("input-required");
    expect(question(conversation)).toBe("On which day would you like to go to New York?");
    await conversation.addMessage("Friday").run(booking);
    expect(booked(conversation)).toEqual({
      destination: "New York",
      day: "friday",
      reference: "NEW YORK-FRIDAY",
    });
  });

  test("asks for one value after the other, and accepts any answer", async () => {
    const conversation = new Conversation().addMessage("Book me a trip");
    await conversation.run(booking);
    expect(question(conversation)).toBe("Where would you like to go?");
    await conversation.addMessage("lisbon.").run(booking);
    expect(question(conversation)).toBe("On which day would you like to go to lisbon?");
    await conversation.addMessage("the 3rd of May").run(booking);
    expect(booked(conversation)).toMatchObject({ destination: "lisbon", day: "the 3rd of May" });
  });

  test("understands both in one message, and both in one answer", async () => {
    const atOnce = new Conversation().addMessage("A trip to Lisbon on Monday, please");
    await atOnce.run(booking);
    expect(booked(atOnce)).toMatchObject({ destination: "Lisbon", day: "monday" });
    const answer = new Conversation().addMessage("hello");
    await answer.run(booking);
    await answer.addMessage("To Oslo, tomorrow!").run(booking);
    expect(booked(answer)).toMatchObject({ destination: "Oslo", day: "tomorrow" });
  });
});

test("slow works for the given time, reports progress, and then responds", async () => {
  const conversation = new Conversation().addMessage("0.2 s");
  const events = await conversation.run(slow);
  expect(events.map(event => event.type)).toEqual(["status", "artifact"]);
  expect(conversation.task.artifacts).toMatchObject([
    { parts: [text("Done after 0.2 seconds of hard work.")] },
  ]);
});

test("slow stops at once when it is canceled", async () => {
  const conversation = new Conversation().addMessage("work");
  const running = conversation.run(slow);
  running.catch(() => {});
  await expect.poll(() => conversation.task.status.message).toBeDefined();
  conversation.abort.abort();
  await expect(running).rejects.toMatchObject({ name: "AbortError" });
  expect(question(conversation)).toBe("0 of 30 seconds done");
});

test.each([echo, countdown, reporter, research, booking, slow])(
  "the card of $name is complete",
  definition => {
    const { card } = toAgent(definition);
    for (const value of [
      card.name,
      card.description,
      card.version,
      card.skills,
      card.inputModes,
      card.outputModes,
    ])
      expect(value).not.toHaveLength(0);
    for (const skill of card.skills)
      for (const value of Object.values(skill)) expect(value).not.toHaveLength(0);
  },
);
