#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";

// A short peak of load must not make V8 allocate short-lived objects in the old generation (docs/decisions/0026).
setFlagsFromString("--no-allocation-site-pretenuring");
// Stripped and compiled code is cached between starts, also of programs that start this file without bin/dragoman.cjs:
// from the sources a start takes 0.1 s instead of 0.4 s.
enableCompileCache();

const { start } = await import("./start.ts");

/** Every command, in the order of the help. Only the one that is called is imported. */
await start({
  serve: () => import("./commands/serve.ts"),
  dev: () => import("./commands/dev.ts"),
  init: () => import("./commands/init.ts"),
  import: () => import("./commands/import.ts"),
  demo: () => import("./commands/demo.ts"),
  chat: () => import("./commands/chat.ts"),
  call: () => import("./commands/call.ts"),
  converse: () => import("./commands/converse.ts"),
  tail: () => import("./commands/tail.ts"),
  tasks: () => import("./commands/tasks.ts"),
  cancel: () => import("./commands/cancel.ts"),
  card: () => import("./commands/card.ts"),
  push: () => import("./commands/push.ts"),
  token: () => import("./commands/token.ts"),
  usage: () => import("./commands/usage.ts"),
  keys: () => import("./commands/keys.ts"),
  why: () => import("./commands/why.ts"),
  doctor: () => import("./commands/doctor.ts"),
  backup: () => import("./commands/backup.ts"),
  migrate: () => import("./commands/migrate.ts"),
  completion: () => import("./commands/completion.ts"),
});
