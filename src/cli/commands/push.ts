import type { Command } from "commander";
import { parseJson, readText, sendRequest, toHttpError } from "../../client/http.ts";
import { asList, asObject, asText } from "../../client/read.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";
import { ClientError } from "../terminal/errors.ts";
import { runInterruptible } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import { toAccess } from "../terminal/target.ts";
import { oneLine, type Terminal } from "../terminal/terminal.ts";
import { formatAge, formatCount, formatTable } from "../terminal/text.ts";
import { isAddress, type RemoteFlags, serverOptions, splitTask, toRemote } from "./remote-options.ts";

interface RedeliverFlags extends RemoteFlags {
  readonly fromStart?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman push 0199a1b2-…                                a task of the local server
  dragoman push redeliver 0199a1b2-…`;

const REDELIVER_EXAMPLES = `
Examples:
  dragoman push redeliver 0199a1b2-…                         all webhooks of the task, also those given up
  dragoman push redeliver 0199a1b2-… my-hook                 one of them
  dragoman push redeliver 0199a1b2-… --from-start            everything again, with the same ids
  dragoman push redeliver https://agents.example 0199a1b2-…  of a server elsewhere`;

export function define(program: Command, context: CommandContext): void {
  const command = program.command("push [url] [task]").description(SUMMARIES.push);
  serverOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (first: string | undefined, second: string | undefined, flags: RemoteFlags) => {
      const { url, taskId } = splitTask(command, first, second);
      const request = { method: "GET", path: `?task=${encodeURIComponent(taskId)}` } as const;
      await callAdmin(context, url, flags, request, (output, response) =>
        print(output, response, context.terminal, taskId),
      );
    });
  const redeliver = command
    .command("redeliver [url] [task] [config]")
    .description("Deliver pending and failed notifications now; needs the scope admin");
  serverOptions(redeliver)
    .option("--from-start", "also notifications that were delivered before")
    .addHelpText("after", REDELIVER_EXAMPLES)
    .action(async (first?: string, second?: string, third?: string, flags: RedeliverFlags = {}) => {
      const hasUrl = first !== undefined && isAddress(first);
      const [url, task, config] = hasUrl ? [first, second, third] : [undefined, first, second];
      if (task === undefined) return redeliver.error("error: missing required argument 'task'");
      const body = JSON.stringify({ task, config, from: flags.fromStart ? "start" : undefined });
      await callAdmin(
        context,
        url,
        flags,
        { method: "POST", path: "/redeliver", body },
        (output, response) => {
          const count = Number(response.redelivered);
          if (count === 0) throw noWebhooks(config === undefined ? task : `${task} with the id ${config}`);
          output.line(`delivering to ${formatCount(count, "webhook")}`);
        },
      );
    });
}

const noWebhooks = (task: string): ClientError =>
  new ClientError(`No webhook of task ${task}: the task has none, or does not exist`);

interface AdminRequest {
  readonly method: "GET" | "POST";
  /** Appended to /admin/pushes. */
  readonly path: string;
  readonly body?: string;
}

async function callAdmin(
  context: CommandContext,
  address: string | undefined,
  flags: RemoteFlags,
  { method, path, body }: AdminRequest,
  show: (output: Output, response: JsonObject) => void,
): Promise<void> {
  const { terminal } = context;
  const remote = toRemote(terminal, address, flags);
  const url = `${remote.target.base.replace(/\/agents\/[^/]+$/, "")}/admin/pushes${path}`;
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  context.exitCode = await runInterruptible(terminal, async ({ output, signal }) => {
    output.startWaiting(`waiting for ${url}`);
    const request = { method, url, headers, ...(body !== undefined && { body }) };
    const response = await sendRequest(toAccess(terminal, remote), request, signal);
    const text = await readText(url, response);
    if (!response.ok) throw toHttpError(url, response, text);
    const json = asObject(parseJson(url, text));
    if (remote.json) output.json(json);
    show(remote.json ? NO_OUTPUT : output, json);
    return EXIT.ok;
  });
}

/** With --json only the response is printed, but the same responses are errors. */
const NO_OUTPUT: Output = {
  text() {},
  line() {},
  paintedLine() {},
  json() {},
  note() {},
  alert() {},
  startWaiting() {},
  stopWaiting() {},
  end() {},
};

const HEADING = ["WEBHOOK", "URL", "STATE", "LAST ATTEMPT", "RESULT"];

function print(output: Output, response: JsonObject, terminal: Terminal, task: string): void {
  const pushes = asList(response.pushes).map(asObject);
  if (pushes.length === 0) throw noWebhooks(task);
  const rows = pushes.flatMap(push => {
    const [last, ...earlier] = asList(push.attempts).map(asObject).toReversed();
    const state = describeState(push, terminal.now());
    return [
      [toText(push.id), toText(push.url), state, toText(last?.at), describeAttempt(last)],
      ...earlier.map(attempt => ["", "", "", toText(attempt.at), describeAttempt(attempt)]),
    ];
  });
  const columns = terminal.out.tty ? terminal.out.columns : undefined;
  for (const line of formatTable([HEADING, ...rows], columns)) output.line(line);
}

const toText = (value: Json | undefined): string => oneLine(asText(value) ?? "");

function describeState(push: JsonObject, now: number): string {
  const { count, since } = asObject(push.failed);
  const failures = push.failed
    ? `${formatCount(Number(count), "failed attempt")}, the first ${formatAge(asText(since), now)}`
    : "";
  if (push.state === "done") return "done";
  if (push.state === "dead") return failures ? `given up after ${failures}` : "given up without an attempt";
  return failures ? `${failures}; next at ${toText(push.nextAt)}` : `delivered up to event ${push.place}`;
}

function describeAttempt(attempt: JsonObject | undefined): string {
  if (!attempt) return "";
  const { event, status, ms, error } = attempt;
  const result = status === undefined ? toText(error) || "no response" : String(status);
  return `event ${event}: ${result} in ${ms} ms`;
}
