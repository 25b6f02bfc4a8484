import type { Command } from "commander";
import { subscribe } from "../../client/resume.ts";
import type { CommandContext } from "../command.ts";
import { reportResult, resumeStream, printResponses, sleep, type SessionOptions, withSession } from "../terminal/session.ts";
import { type RemoteFlags, remoteOptions, toRemote, toSeconds } from "./remote-options.ts";

interface TailFlags extends RemoteFlags {
  readonly from?: string;
  readonly save?: string;
  readonly timeout?: number;
}

const EXAMPLES = `
Examples:
  dragoman tail http://127.0.0.1:2024 0199a1b2-…
  dragoman tail http://127.0.0.1:2024 0199a1b2-… --from 12     only what came after event 12`;

export function define(program: Command, session: CommandContext): void {
  const command = program
    .command("tail <url> <task>")
    .description("Follow a task until it ends; one that has ended is shown whole");
  remoteOptions(command)
    .option("--from <seq>", "go on after this event (the id that the stream gave it)")
    .option("--save <folder>", "save files that the agent sends")
    .option("--timeout <seconds>", "stop reading after this time; the task goes on", toSeconds)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, taskId: string, flags: TailFlags) => {
      const wish: SessionOptions = {
        remote: toRemote(url, flags),
        history: flags.from === undefined,
        ...(flags.save !== undefined && { saveFolder: flags.save }),
        ...(flags.timeout !== undefined && { timeoutMs: flags.timeout * 1000 }),
      };
      session.exitCode = await withSession(session.terminal, wish, async talk => {
        talk.progress = { taskId, ...(flags.from !== undefined && { eventId: flags.from }) };
        const events = subscribe(talk.agent, talk.progress, { signal: talk.signal, sleep });
        await printResponses(talk, resumeStream(talk, events, "terminal", talk.progress));
        return reportResult(talk);
      });
    });
}
