import { runtimeContract } from "../../src/testing/contracts/runtime.ts";
import { runContract } from "../support/contract.ts";
import { RUNTIMES } from "../support/runtimes.ts";

/** In the process of the test; test/chaos/runtimes.test.ts kills a server. */
for (const { name, ...runtime } of RUNTIMES)
  runContract(`an agent made with ${name}`, runtimeContract(runtime));
