import { deepEqual, equal, match } from "node:assert/strict";
import { serve } from "../_serve.ts";

const server = await serve(new URL("agent.ts", import.meta.url));
try {
  const told = await server.send("travel", "How is the weather in Oslo?");
  equal(told.text, "One moment.\n\nIt is sunny in Oslo.");
  deepEqual(told.data["tool-call"], { id: "call-0", tool: "weather", args: { city: "Oslo" } });

  const asked = await server.send("travel", "Book Rome");
  equal(asked.state, "TASK_STATE_INPUT_REQUIRED");
  match(asked.statusText, /^May book be called with {"city":"Rome"}\?/);
  const booked = await server.send("travel", "yes", asked.taskId);
  match(booked.text, /Booked: Rome\.$/);
} finally {
  await server.stop();
}
process.stdout.write("ok\n");
