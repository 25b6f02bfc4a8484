import { clear, type Watched } from "./clear.ts";

/**
 * A process that outlives the bench by a moment and cleans up, even when the bench was killed with SIGKILL.
 */

let watched: Watched = { groups: [], folders: [] };

process.on("message", message => {
  watched = message as Watched;
});
process.on("disconnect", () => {
  clear(watched);
  process.exit();
});
