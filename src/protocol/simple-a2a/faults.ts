import type { Fault } from "../../model/index.ts";
import type { ReplyContext, WireFault } from "../../ports/index.ts";
import { toFaultTable } from "../shared/faults.ts";
import { readVersionText } from "../shared/headers.ts";

export const NO_EXTENSION = -32007;
export const WRONG_VERSION = -32008;

/** The error codes of the document, then the server's own. All are sent with HTTP 200, except for `unauthenticated`. */
export const FAULTS = toFaultTable({
  "extension-required": NO_EXTENSION,
  "version-not-supported": WRONG_VERSION,
  "extended-card-not-configured": -32004,
});

export const VERSION_MESSAGE = "Unsupported version: use A2A-Version 1.0 or 0.3, or omit the header";
export const isVersionSupported = (call: ReplyContext): boolean =>
  [undefined, "1.0", "0.3"].includes(readVersionText(call));

/** After authentication the version is checked first: it wins over all other errors, and the id is not read yet. */
export function encodeFault(
  { code, message }: Pick<Fault, "code" | "message">,
  call: ReplyContext,
): WireFault {
  if (code === "unauthenticated") return { code, ...FAULTS[code], status: FAULTS[code].http, message };
  if (call.transport === "document" || isVersionSupported(call))
    return { code, ...FAULTS[code], status: 200, message };
  const version = "version-not-supported";
  return { code: version, ...FAULTS[version], status: 200, message: VERSION_MESSAGE, anonymous: true };
}
