import type { FaultTable } from "../../ports/index.ts";
import { FAULT_TABLES } from "../a2a-v1/faults.ts";

/** v1.1 §5.4: as v1.0, with one error more. */
export const toFaults = (edition: keyof typeof FAULT_TABLES): FaultTable => ({
  ...FAULT_TABLES[edition],
  "task-generation-mismatch": { rpc: -32010, http: 409, grpc: "ABORTED" },
});
