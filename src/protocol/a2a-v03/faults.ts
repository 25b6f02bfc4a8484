import { toFaultTable } from "../shared/faults.ts";

/**
 * v0.3 §8. Versions and extensions have no codes in v0.3: they get those of v1.0. The official gRPC clients know an error
 * by its status alone.
 */
export const FAULTS = toFaultTable(
  {},
  {
    "push-not-supported": { http: 400, grpc: "UNIMPLEMENTED" },
    "unsupported-operation": { http: 400, grpc: "UNIMPLEMENTED" },
    "version-not-supported": { http: 400, grpc: "UNIMPLEMENTED" },
  },
);
