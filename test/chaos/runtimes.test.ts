import { testRuntime } from "../support/runtime-host.ts";
import { LANGGRAPH, REMOTE, RUNTIMES } from "../support/runtimes.ts";

/** The contract of runtimes with a server that is killed with SIGKILL. */
for (const runtime of [...RUNTIMES, LANGGRAPH, REMOTE]) testRuntime(runtime);
