import { toFaultTable } from "../shared/faults.ts";

/** v0.2 §8 ends at -32006; later errors keep their later numbers. A missing extended card is HTTP 404. */
export const FAULTS = toFaultTable(
  {
    "extended-card-not-configured": -32004,
  },
  { "extended-card-not-configured": { http: 404, grpc: "NOT_FOUND" } },
);
