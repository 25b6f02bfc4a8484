import { createCodecs } from "./codec.ts";

/** `google.rpc.Status`, with the two details that A2A uses: the value of `grpc-status-details-bin`. */
export const STATUS_CODEC = createCodecs({
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
})("Status");
