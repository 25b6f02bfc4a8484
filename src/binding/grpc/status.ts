import type { WireFault, WireReply } from "../../ports/index.ts";
import { STATUS_CODEC } from "../../protocol/protobuf/status.ts";

/** The status codes of gRPC. */
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

/** How a call ends. */
export interface GrpcStatus {
  readonly code: number;
  readonly message?: string;
  readonly trailers?: Readonly<Record<string, string>>;
}

export const OK: GrpcStatus = { code: CODES.OK };

/** An error of the transport, before there is a call that a dialect could answer. */
export class GrpcError extends Error {
  override readonly name = "GrpcError";
  readonly status: GrpcStatus;

  constructor(code: keyof typeof CODES, message: string, trailers: GrpcStatus["trailers"] = {}) {
    super(message);
    this.status = { code: CODES[code], message, trailers };
  }
}

const DETAIL_TYPES: ReadonlySet<unknown> = new Set(
  ["ErrorInfo", "BadRequest"].map(name => `type.googleapis.com/google.rpc.${name}`),
);

/** v1 §10.6: the details are in the status message of google.rpc, for programs. */
export function toGrpcStatus(fault: WireFault, headers: WireReply["headers"]): GrpcStatus {
  const code = CODES[fault.grpc as keyof typeof CODES] ?? CODES.UNKNOWN;
  const { message, data } = fault;
  const details = Array.isArray(data) ? data.filter(detail => DETAIL_TYPES.has(detail?.["@type"])) : [];
  const bytes = STATUS_CODEC.encode({ code, message, details });
  return { code, message, trailers: { ...headers, "grpc-status-details-bin": bytes.toString("base64") } };
}

export function toTrailers({ code, message, trailers }: GrpcStatus): Record<string, string> {
  const all = { ...trailers, "grpc-status": String(code) };
  return message ? { ...all, "grpc-message": toPrintable(message) } : all;
}

/** Percent-encodes what is not printable ASCII, as gRPC demands. */
const toPrintable = (text: string): string =>
  /^[\x20-\x24\x26-\x7e]*$/.test(text) ? text : encodeURI(text.toWellFormed());
