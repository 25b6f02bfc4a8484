import type { Command } from "commander";
import { subscribe } from "../../client/resume.ts";
import type { CommandContext } from "../command.ts";
import { printResponses, reportResult, resumeStream, sleep, withSession } from "../terminal/session.ts";
import { toSeconds } from "./arguments.ts";
import { type RemoteFlags, remoteOptions, toRemote } from "./remote-options.ts";

interface TailFlags extends RemoteFlags {
  readonly from?: string;
  readonly save?: string;
  readonly timeout?: number;
}

const EXAMPLES = `
Examples:
  dragoman tail http://127.0.0.1:2024 0199a1b2-…
  dragoman tail http://127.0.0.1:2024 0199a1b2-… --from 12     only events after event 12`;

export function define(program: Command, context: CommandContext): void {
  const command = program
    .command("tail <url> <task>")
    .description("Follow a task until it ends, or print a task that has ended");
  remoteOptions(command)
    .option("--from <seq>", "start after this event (the `id` of the event in the stream)")
    .option("--save <folder>", "save files that the agent sends")
    .option("--timeout <seconds>", "stop reading after this time; the task continues", toSeconds)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, taskId: string, flags: TailFlags) => {
      const options = {
        remote: toRemote(url, flags),
        history: flags.from === undefined,
        saveFolder: flags.save,
        timeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
      };
      context.exitCode = await withSession(context.terminal, options, async session => {
        const start = { taskId, ...(flags.from !== undefined && { eventId: flags.from }) };
        session.progress = start;
        const events = subscribe(session.agent, start, { signal: session.signal, sleep });
        await printResponses(session, resumeStream(session, events, "terminal", start));
        return reportResult(session);
      });
    });
}
