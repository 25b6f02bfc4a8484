import type { WireFault, WireReply } from "../../ports/index.ts";
import { DETAILS } from "../../protocol/protobuf/details.ts";

/** How a call can end, and the numbers of it. */
export const CODES = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/** How a call ends, and what is said beside it. */
export interface Status {
  readonly code: number;
  readonly message?: string;
  readonly trailers?: Readonly<Record<string, string>>;
}

export const OK: Status = { code: CODES.OK };

/** What is no call, or cannot be read as one: it ends with this status. */
export class GrpcRefusal extends Error {
  override readonly name = "GrpcRefusal";
  readonly status: Status;

  constructor(code: keyof typeof CODES, message: string, trailers: Status["trailers"] = {}) {
    super(message);
    this.status = { code: CODES[code], message, trailers };
  }
}

const TYPES: ReadonlySet<unknown> = new Set(
  ["ErrorInfo", "BadRequest"].map(name => `type.googleapis.com/google.rpc.${name}`),
);

/** v1 §10.6: the status, and in its details what programs need to know. */
export function toStatus(fault: WireFault, headers: WireReply["headers"]): Status {
  const code = CODES[fault.grpc as keyof typeof CODES] ?? CODES.UNKNOWN;
  const { message, data } = fault;
  const details = Array.isArray(data) ? data.filter(one => TYPES.has(one?.["@type"])) : [];
  const bytes = DETAILS.encode(JSON.stringify({ code, message, details }));
  return { code, message, trailers: { ...headers, "grpc-status-details-bin": bytes.toString("base64") } };
}

export function toTrailers({ code, message, trailers }: Status): Record<string, string> {
  const said = { ...trailers, "grpc-status": String(code) };
  return message ? { ...said, "grpc-message": toPrintable(message) } : said;
}

/** Only printable ASCII has a place in a header; the rest is told by the numbers of its bytes. */
const toPrintable = (text: string): string =>
  /^[\x20-\x24\x26-\x7e]*$/.test(text) ? text : encodeURI(text.toWellFormed());
