import { deepEqual, equal } from "node:assert/strict";
import { serve } from "../_serve.ts";

/** The same graph, once from code, and once from LangGraph's own config file. */
for (const file of ["agent.ts", "langgraph.json"]) {
  const server = await serve(new URL(file, import.meta.url));
  try {
    const asked = await server.send("planner", "A weekend in Lisbon, please");
    equal(asked.text, "Two nights by the sea, and the train back.");
    deepEqual([asked.state, asked.statusText], ["TASK_STATE_INPUT_REQUIRED", "Shall I book this?"]);
    const booked = await server.send("planner", "Yes!", asked.taskId);
    deepEqual([booked.state, booked.text], ["TASK_STATE_COMPLETED", `${asked.text}It is booked.`]);

    const other = await server.send("planner", "And Oslo");
    const refused = await server.send("planner", "no", other.taskId);
    equal(refused.text, `${other.text}Nothing was booked.`);
  } finally {
    await server.stop();
  }
}
process.stdout.write("ok\n");
