/** Builds the page, and has the conversation of the README without a browser: the store that its hook reads. */
import { equal, match } from "node:assert/strict";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { serve } from "../_serve.ts";

// In a clone of the repository the package is not built: its sources are used.
const sources = new URL("../../src/react/index.ts", import.meta.url);
const isClone = existsSync(sources);
const alias = isClone ? { "dragoman/react": fileURLToPath(sources) } : {};
const own: typeof import("dragoman/react") = await import(isClone ? sources.href : "dragoman/react");
const built = (await build({
  root: fileURLToPath(new URL(".", import.meta.url)),
  configFile: false,
  logLevel: "error",
  resolve: { alias },
  build: { write: false },
})) as { readonly output: readonly { readonly fileName: string }[] };
match(built.output.map(({ fileName }) => fileName).join(" "), /index\.html/);

const server = await serve(new URL("../booking.ts", import.meta.url));
try {
  const conversation = new own.ConversationStore(`${server.url}/agents/booking`);
  const end = conversation.subscribe(() => {});
  await conversation.send("A trip to Lisbon");
  equal(conversation.getState().questions[0]?.question, "On which day would you like to go to Lisbon?");
  await conversation.answer("Friday");
  const { state, messages } = conversation.getState();
  equal(state, "completed");
  match(messages.map(({ parts }) => own.textOf(parts)).join("|"), /Booked: Lisbon, friday\./);
  end();
} finally {
  await server.stop();
}
process.stdout.write("ok\n");
