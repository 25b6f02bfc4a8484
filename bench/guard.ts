import { clear, type Watched } from "./clear.ts";

/** A process that outlives the bench by a moment and clears up behind it, even when the bench died of SIGKILL. */

let watched: Watched = { groups: [], folders: [] };

process.on("message", message => {
  watched = message as Watched;
});
process.on("disconnect", () => {
  clear(watched);
  process.exit();
});
