import type { Command } from "commander";
import type { CommandContext } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";
import { toSeconds } from "./arguments.ts";
import { type RemoteFlags, remoteOptions, splitTask, toRemote } from "./remote-options.ts";

interface TailFlags extends RemoteFlags {
  readonly from?: string;
  readonly save?: string;
  readonly timeout?: number;
}

const EXAMPLES = `
Examples:
  dragoman tail 0199a1b2-…                                     a task of the local server
  dragoman tail 0199a1b2-… --from 12                           only events after event 12
  dragoman tail https://agents.example 0199a1b2-…`;

export function define(program: Command, context: CommandContext): void {
  const command = program.command("tail [url] [task]").description(SUMMARIES.tail);
  remoteOptions(command)
    .option("--from <seq>", "start after this event (the `id` of the event in the stream)")
    .option("--save <folder>", "save files that the agent sends")
    .option("--timeout <seconds>", "stop reading after this time; the task continues", toSeconds)
    .addHelpText("after", EXAMPLES)
    .action(async (first: string | undefined, second: string | undefined, flags: TailFlags) => {
      const { url, taskId } = splitTask(command, first, second);
      const { subscribe } = await import("../../client/resume.ts");
      const { sleep } = await import("../../client/sleep.ts");
      const { printResponses, reportResult, resumeStream, withSession } = await import(
        "../terminal/session.ts"
      );
      const options = {
        remote: toRemote(context.terminal, url, flags),
        taskId,
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
