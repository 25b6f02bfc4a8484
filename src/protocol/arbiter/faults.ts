import type { Fault, FaultCode } from "../../model/index.ts";
import type { WireCall, WireFault } from "../../ports/index.ts";
import { toFaultTable } from "../shared/faults.ts";
import { readVersionText } from "../shared/headers.ts";
import { encodeRequestFault } from "./encode-requests.ts";
import { NO_PUSH } from "./routes.ts";

export const WRONG_VERSION = -32007;

/** The error codes of the document, where an unknown agent has the number of an unknown task; then the server's own. */
export const FAULTS = toFaultTable(
  {
    "agent-not-found": -32001,
    "push-not-supported": -32004,
    "version-not-supported": WRONG_VERSION,
    "extended-card-not-configured": -32004,
    "extension-required": -32004,
  },
  { "task-not-cancelable": { http: 404, grpc: "NOT_FOUND" } },
);

export const VERSION_MESSAGE = "Unsupported version: use A2A-Version 1.0, or omit the header";
export const isVersionSupported = (call: WireCall): boolean =>
  [undefined, "1.0", "1"].includes(readVersionText(call));

export function encodeFault(fault: Pick<Fault, "code" | "message">, call: WireCall): WireFault {
  const { code } = fault;
  // After authentication the version is checked first: it wins over all other errors, and the id is not read yet.
  if (call.transport === "jsonrpc" && code !== "unauthenticated" && !isVersionSupported(call))
    return { ...toNumbers("version-not-supported"), message: VERSION_MESSAGE, anonymous: true };
  const message = code === "push-not-supported" ? NO_PUSH : fault.message;
  if (call.transport !== "rest") return { ...toNumbers(code), message };
  return { ...toNumbers(code), message, body: encodeRequestFault({ code, message }, call) };
}

/** Every error is sent with HTTP 200, except for missing authentication. */
const toNumbers = (code: FaultCode) => ({
  code,
  ...FAULTS[code],
  status: code === "unauthenticated" ? FAULTS[code].http : 200,
});
