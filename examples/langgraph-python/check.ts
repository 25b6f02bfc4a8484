import { deepEqual, equal } from "node:assert/strict";
import { serve } from "../_serve.ts";

/** Needs the packages of requirements.txt, in `.venv` or in the active virtual environment. */
const server = await serve(new URL("langgraph.json", import.meta.url), { OPENAI_API_KEY: "none" });
try {
  const asked = await server.send("planner", "A weekend in Lisbon, please");
  deepEqual([asked.state, asked.statusText], ["TASK_STATE_INPUT_REQUIRED", "Shall I book this?"]);
  const booked = await server.send("planner", "Yes!", asked.taskId);
  equal(booked.text, `${asked.text}It is booked.`);
} finally {
  await server.stop();
}
process.stdout.write("ok\n");
