import type { Json } from "../lib/json.ts";
import type { FaultCode } from "../model/index.ts";
import { toFaultCode } from "../protocol/shared/error-details.ts";
import { FAULT_NUMBERS } from "../protocol/shared/faults.ts";
import { RemoteError } from "./errors.ts";
import { asList, asObject, asText } from "./read.ts";

/** Faults that other servers report by a number, a reason or a status, by their names. */

/** Where several faults have one number, the first of the table: the most general one. */
export function findFault(number: number, differences: DialectNumbers = {}): FaultCode | undefined {
  const numbers = Object.entries({ ...FAULT_NUMBERS, ...differences });
  return numbers.find(([, one]) => one === number)?.[0] as FaultCode | undefined;
}
/** The numbers of a dialect that are not those of v1.0. */
type DialectNumbers = Partial<Record<FaultCode, number>>;

/** v1 §9.5: the reason in the details is more exact than the number. */
function findReason(details: Json | undefined): FaultCode | undefined {
  for (const detail of asList(details)) {
    const code = toFaultCode(asText(asObject(detail).reason) ?? "");
    if (code) return code;
  }
  return undefined;
}

/** Responses that have nothing but an HTTP status. */
export const HTTP_FAULTS: Readonly<Record<number, FaultCode>> = {
  401: "unauthenticated",
  403: "forbidden",
  404: "task-not-found",
  405: "unsupported-operation",
  408: "too-slow",
  409: "conflict",
  413: "too-large",
  415: "content-type-not-supported",
  501: "unsupported-operation",
};

/** An error of an agent, as its transport found it. */
interface Refusal {
  readonly url: string;
  readonly method: string;
  readonly reason: string;
  readonly details: Json | undefined;
  /** The fault, if the details name none. */
  readonly fault: FaultCode | undefined;
  /** Number or status, for the reader of the message. */
  readonly status: string;
}

export function toRefusal({ url, method, reason, details, fault, status }: Refusal): RemoteError {
  const fields = violationsOf(details, reason);
  const detail = fields ? `${reason} (${fields})` : reason;
  return new RemoteError(
    findReason(details) ?? fault,
    `${url} refused ${method}: ${detail} [${status}]`,
    detail,
  );
}

/** v1 §9.5: a detail of type BadRequest names the invalid fields. `reason`: the message, which is not repeated. */
function violationsOf(details: Json | undefined, reason: string): string {
  return asList(details)
    .flatMap(detail => asList(asObject(detail).fieldViolations))
    .map(asObject)
    .map(one =>
      one.description === reason ? asText(one.field) : `${asText(one.field)}: ${asText(one.description)}`,
    )
    .join("; ");
}
