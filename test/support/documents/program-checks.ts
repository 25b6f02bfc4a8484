/** What each program of the documents must do, by its page, and by its name or the heading above it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { startChild } from "../child.ts";
import { openStream, rpc, sendParams, until } from "../client.ts";
import { EXAMPLES } from "../examples.ts";
import type { Block } from "./blocks.ts";
import { type Program, startProgram } from "./programs.ts";

export interface ProgramParts {
  readonly folder: string;
  readonly block: Block;
  /** Writes the block, or a changed one, and the other files of its page; returns the file. */
  write(block?: Block): string;
}

type Check = (parts: ProgramParts) => Promise<void>;

async function withProgram(
  { folder, write }: ProgramParts,
  check: (program: Program) => Promise<void>,
  changed?: Block,
): Promise<void> {
  const program = startProgram(write(changed), folder);
  try {
    await check(program);
  } finally {
    await program.stop();
  }
}

/** A server that greets: a call at its path, one by name, a stream, and a card with the address of the mount. */
const greetsAt =
  (port: number, path: string): Check =>
  parts =>
    withProgram(parts, async program => {
      const url = (await program.url(port)) + path;
      for (const address of [url, `${url}/agents/hello`]) {
        const { body } = await rpc(address, "SendMessage", sendParams("Ada"));
        expect(textsOf(body.result.task.artifacts)).toBe("Hello, Ada!");
      }
      const stream = await openStream(url, "SendStreamingMessage", sendParams("Ada"));
      expect((await stream.all()).at(-1)?.data.result.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
      const card = await (await fetch(`${url}/agents/hello/.well-known/agent-card.json`)).json();
      expect(JSON.stringify(card)).toContain(`${url}/agents/hello`);
      program.signal("SIGTERM");
      await program.ended;
    });

const textsOf = (artifacts: readonly { parts: readonly { text?: string }[] }[]): string =>
  artifacts.flatMap(artifact => artifact.parts.map(part => part.text ?? "")).join("");

/** The block with the address of a started server instead of the default one. */
const pointedAt = (block: Block, url: string): Block => ({
  ...block,
  text: block.text.replaceAll("http://127.0.0.1:2024", url),
});

const officialClient: Check = async parts => {
  const server = await startChild({ agents: [join(EXAMPLES, "echo.ts")], data: ":memory:" });
  await withProgram(
    parts,
    async program => {
      expect(await program.ended).toBe(0);
      expect(program.output()).toMatch(/^task\n(?:(?:status|artifact)Update\n)+$/);
    },
    pointedAt(parts.block, server.url),
  );
};

/** A client of the bundled examples and of two more, `hello` and `agent`, that ends by itself. */
const prints =
  (text: string): Check =>
  async parts => {
    const echo = readFileSync(join(EXAMPLES, "echo.ts"), "utf8");
    const more = ["hello", "agent"].map(name => {
      const file = join(parts.folder, `${name}.ts`);
      writeFileSync(file, echo.replace('"echo"', `"${name}"`));
      return file;
    });
    const server = await startChild({ agents: [...more, EXAMPLES], data: ":memory:" });
    await withProgram(
      parts,
      async program => {
        expect(await program.ended, program.output()).toBe(0);
        expect(program.output()).toContain(text);
      },
      pointedAt(parts.block, server.url),
    );
  };

/** The receiver takes signed deliveries, refuses others, and survives an error in the function that uses them. */
const receiver: Check = async parts => {
  const server = await startChild({
    agents: [join(EXAMPLES, "echo.ts")],
    data: ":memory:",
    flags: ["--push-allow-loopback"],
  });
  const block = pointedAt(parts.block, server.url);
  const throwing = { ...block, text: block.text.replace("console.log(", 'throw new Error("full" + ') };
  for (const [changed, sign] of [
    [block, "TASK_STATE_COMPLETED"],
    [throwing, "not processed: Error: full"],
  ] as const)
    await withProgram(
      parts,
      async program => {
        const url = await program.url(8080);
        expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(401);
        const configuration = { taskPushNotificationConfig: { url } };
        const sent = await rpc(server.url, "SendMessage", { ...sendParams("hello"), configuration });
        expect(sent.body.error).toBeUndefined();
        await until(() => program.output().split(sign).length > 1);
        expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(401);
      },
      changed,
    );
};

const shouts: Check = parts =>
  withProgram(parts, async program => {
    const { body } = await rpc(await program.url(2024), "SendMessage", sendParams("Ada"));
    expect(textsOf(body.result.task.artifacts)).toBe("ADA");
    program.signal("SIGTERM");
    expect(await program.ended).toBe(0);
  });

/** A file for `node --test`: so many tests pass. */
const passes =
  (count: number): Check =>
  parts =>
    withProgram(parts, async program => {
      expect(await program.ended, program.output()).toBe(0);
      expect(program.output()).toMatch(new RegExp(`(?:#|ℹ) pass ${count}\n`));
    });

export const PROGRAMS: Readonly<Record<string, Check>> = {
  "docs/guide/client.md#call.ts": prints("completed You said: hello"),
  "docs/guide/client.md#stream.ts": prints("3 … 2 … 1 … Lift-off!"),
  "docs/guide/client.md#answer.ts": prints("Booked: Lisbon, friday."),
  "docs/guide/client.md#tasks.ts": prints("working\ncanceled\ntail: canceled\ntrue\n"),
  "docs/guide/client.md#files.ts": prints("words.csv true"),
  "docs/guide/client.md#errors.ts": prints("It is gone:"),
  "docs/guide/react.md#store.ts": prints("'You said: hello'"),
  "docs/guide/embedding.md#inside-your-own-server": greetsAt(3000, ""),
  "docs/guide/embedding.md#express": greetsAt(3000, "/a2a"),
  "docs/guide/embedding.md#fastify": greetsAt(3000, "/a2a"),
  "docs/guide/embedding.md#hono": greetsAt(3000, "/a2a"),
  "docs/guide/embedding.md#a-plain-fetch-function": prints("Hello, Ada!"),
  "docs/guide/embedding.md#shutdown": greetsAt(3000, ""),
  "docs/guide/getting-started.md#call-it-from-a-program": officialClient,
  "docs/guide/front-ends.md#chat.ts": prints("You said: Ada"),
  "docs/guide/front-ends.md#background.ts": prints("response.completed"),
  "docs/guide/front-ends.md#ag-ui.ts": prints("You said: Ada"),
  "docs/guide/langgraph-api.md#client.ts": prints("You said: hello"),
  "docs/guide/push.md#receiver.ts": receiver,
  "docs/guide/extending.md#server.ts": shouts,
  "docs/guide/extending.md#test/runtime.test.ts": passes(7),
  "docs/guide/testing-agents.md#test/shop.test.ts": passes(3),
  "docs/guide/testing-agents.md#test/crashes.test.ts": passes(1),
  "docs/guide/testing-agents.md#test/time.test.ts": passes(1),
  "docs/guide/testing-agents.md#test/trip.test.ts": passes(2),
  "docs/guide/testing-agents.md#test/cassette.test.ts": passes(1),
  "docs/guide/testing-agents.md#test/models.test.ts": passes(2),
};
