import { createCodecs } from "./codec.ts";
import type { Schema } from "./schema.ts";

/** Google's package for errors, as far as anything of it is said here. */
const RPC: Schema = {
  package: "google.rpc",
  service: "",
  rpcs: {},
  enums: {},
  messages: {
    Status: { code: "int32 1", message: "string 2", details: "Any[] 3" },
    ErrorInfo: { reason: "string 1", domain: "string 2", metadata: "map<string> 3" },
    BadRequest: { fieldViolations: "FieldViolation[] 1" },
    FieldViolation: { field: "string 1", description: "string 2" },
  },
};

/** What stands in `grpc-status-details-bin`. */
export const DETAILS = createCodecs(RPC)("Status");
