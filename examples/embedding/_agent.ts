import { agent } from "dragoman";

/** The agent that each of the hosts serves. */
export const hello = agent({
  name: "hello",
  description: "Greets its caller",
  async *run(task, ctx) {
    yield ctx.text("Hello, ");
    yield ctx.text(`${task.text}!`);
  },
});

/** A started host: the address of the agents, and its end. */
export interface Host {
  readonly url: string;
  close(): Promise<void>;
}
