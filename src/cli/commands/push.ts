import type { Command } from "commander";
import { toHttpError, parseJson, readText, sendRequest } from "../../client/http.ts";
import { asList, asObject, asText } from "../../client/read.ts";
import type { JsonObject } from "../../lib/json.ts";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { createInterrupt } from "../terminal/interrupt.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { toAccess } from "../terminal/session.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/terminal.ts";
import { formatAge, formatCount, formatTable } from "../terminal/text.ts";
import { type RemoteFlags, serverOptions, toRemote } from "./remote-options.ts";

interface RedeliverFlags extends RemoteFlags {
  readonly fromStart?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman push http://127.0.0.1:2024 0199a1b2-…
  dragoman push redeliver http://127.0.0.1:2024 0199a1b2-…`;

const REDELIVER_EXAMPLES = `
Examples:
  dragoman push redeliver http://127.0.0.1:2024 0199a1b2-…              all webhooks of the task, also those given up
  dragoman push redeliver http://127.0.0.1:2024 0199a1b2-… my-hook      one of them
  dragoman push redeliver http://127.0.0.1:2024 0199a1b2-… --from-start once more from the beginning, with the same ids`;

export function define(program: Command, session: CommandContext): void {
  const command = program
    .command("push <url> <task>")
    .description("Show the webhooks of a task and what was delivered to them; for administrators");
  serverOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, task: string, flags: RemoteFlags) => {
      await ask(session, url, flags, { method: "GET", path: `?task=${encodeURIComponent(task)}` }, show);
    });
  defineRedeliver(command, session);
}

function defineRedeliver(push: Command, session: CommandContext): void {
  const command = push
    .command("redeliver <url> <task> [config]")
    .description("Deliver at once what waits or was given up; the server must run");
  serverOptions(command)
    .option("--from-start", "also what was delivered before")
    .addHelpText("after", REDELIVER_EXAMPLES)
    .action(async (url: string, task: string, config: string | undefined, flags: RedeliverFlags) => {
      const wish = {
        task,
        ...(config !== undefined && { config }),
        ...(flags.fromStart && { from: "start" }),
      };
      await ask(
        session,
        url,
        flags,
        { method: "POST", path: "/redeliver", body: JSON.stringify(wish) },
        (output, answer) =>
          output.line(
            `${formatCount(Number(answer.redelivered), "webhook")}: what is missing there is delivered now`,
          ),
      );
    });
}

interface Wish {
  readonly method: "GET" | "POST";
  /** After /admin/pushes. */
  readonly path: string;
  readonly body?: string;
}
type Show = (output: Output, answer: JsonObject, terminal: Terminal) => void;

/** One question to a server, and its answer. */
async function ask(
  session: CommandContext,
  address: string,
  flags: RemoteFlags,
  wish: Wish,
  show: Show,
): Promise<void> {
  const { terminal } = session;
  const output = createOutput(terminal, CLI_LIMITS.waitingDelayMs);
  const interrupt = createInterrupt(terminal, undefined);
  const remote = toRemote(address, flags);
  const { method, path, body } = wish;
  const url = `${remote.target.base.replace(/\/agents\/[^/]+$/, "")}/admin/pushes${path}`;
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  output.startWaiting(`waiting for ${url}`);
  try {
    const asked = { method, url, headers, ...(body !== undefined && { body }) };
    const response = await sendRequest(toAccess(terminal, remote), asked, interrupt.signal);
    const text = await readText(url, response);
    if (!response.ok) throw toHttpError(url, response, text);
    const answer = asObject(parseJson(url, text));
    if (remote.json) output.json(answer);
    else show(output, answer, terminal);
    session.exitCode = EXIT.ok;
  } catch (error) {
    if (interrupt.reason === undefined) throw error;
    session.exitCode = EXIT.interrupted;
  } finally {
    output.end();
    interrupt.close();
  }
}

function show(output: Output, answer: JsonObject, terminal: Terminal): void {
  const pushes = asList(answer.pushes).map(asObject);
  if (pushes.length === 0) output.note("no webhooks: the task has none, or there is no such task");
  for (const push of pushes) {
    output.line(`${oneLine(text(push.id))}  ${oneLine(text(push.url))}`);
    output.line(`  ${summaryOf(push, terminal.now())}`);
    const rows = asList(push.attempts).map(one => toRow(asObject(one)));
    const width = terminal.out.tty ? terminal.out.columns - 2 : undefined;
    for (const line of formatTable(rows, width)) output.line(`  ${line}`);
  }
}

const text = (value: unknown): string => asText(value as never) ?? "";

function summaryOf(push: JsonObject, now: number): string {
  const failed = asObject(push.failed);
  const failures = push.failed
    ? `${formatCount(Number(failed.count), "failed attempt")}, the first ${formatAge(asText(failed.since), now)}`
    : "";
  switch (push.state) {
    case "done":
      return "done: the task has ended, and all of it is delivered";
    case "dead":
      return `given up after ${failures || "it could not be tried"}`;
    default:
      return failures ? `${failures}; next at ${text(push.nextAt)}` : `delivered up to event ${push.place}`;
  }
}

const toRow = ({ at, event, status, ms, error }: JsonObject): readonly string[] => [
  text(at),
  `event ${event}`,
  status === undefined ? "no answer" : String(status),
  `${ms} ms`,
  oneLine(text(error)),
];
