import { deepEqual, equal } from "node:assert/strict";
import { serve } from "../_serve.ts";

const server = await serve(new URL("dragoman.config.ts", import.meta.url));
try {
  const counted = await server.send("letters", "to count letters");
  equal(counted.text, "to has 2 letters. count has 5 letters. letters has 7 letters. ");
  deepEqual(counted.data, { lengths: { to: 2, count: 5, letters: 7 } });

  const asked = await server.send("letters", "hello");
  deepEqual([asked.state, asked.statusText], ["TASK_STATE_INPUT_REQUIRED", "Give me a sentence, please"]);
  const answered = await server.send("letters", "hello world", asked.taskId);
  equal(answered.text, "hello has 5 letters. world has 5 letters. ");
} finally {
  await server.stop();
}
process.stdout.write("ok\n");
