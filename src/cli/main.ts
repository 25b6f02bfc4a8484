#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";

// A short peak of load must not make V8 allocate short-lived objects in the old generation (docs/decisions/0026).
setFlagsFromString("--no-allocation-site-pretenuring");

// Stripped and compiled code is cached between starts: from the sources a start takes 0.1 s instead of 0.4 s.
enableCompileCache();
const { start } = await import("./start.ts");

/** Every command, in the order of the help. */
await start([
  await import("./commands/serve.ts"),
  await import("./commands/dev.ts"),
  await import("./commands/call.ts"),
  await import("./commands/converse.ts"),
  await import("./commands/tail.ts"),
  await import("./commands/tasks.ts"),
  await import("./commands/cancel.ts"),
  await import("./commands/card.ts"),
  await import("./commands/push.ts"),
  await import("./commands/token.ts"),
  await import("./commands/usage.ts"),
  await import("./commands/keys.ts"),
  await import("./commands/why.ts"),
  await import("./commands/doctor.ts"),
  await import("./commands/backup.ts"),
  await import("./commands/migrate.ts"),
]);
