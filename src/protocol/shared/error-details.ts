import type { Json } from "../../lib/json.ts";
import type { FaultCode, FaultDetails } from "../../model/index.ts";
import { FAULT_NUMBERS, type FaultContent } from "./faults.ts";

/** Errors that the protocol defines; the others have the domain `dragoman`. */
const PROTOCOL_ERRORS: ReadonlySet<FaultCode> = new Set<FaultCode>([
  "task-not-found",
  "task-not-cancelable",
  "push-not-supported",
  "unsupported-operation",
  "content-type-not-supported",
  "invalid-agent-response",
  "extended-card-not-configured",
  "extension-required",
  "version-not-supported",
  "task-generation-mismatch",
]);

/** Reasons of the protocol that are not the fault code in capitals. */
const REASONS: Partial<Record<FaultCode, string>> = {
  "push-not-supported": "PUSH_NOTIFICATION_NOT_SUPPORTED",
  "extended-card-not-configured": "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
  "extension-required": "EXTENSION_SUPPORT_REQUIRED",
};

const NAMED = Object.entries(REASONS) as readonly (readonly [FaultCode, string])[];

/** The fault that a reason names; undefined: a reason of another server. */
export function toFaultCode(reason: string): FaultCode | undefined {
  const code = NAMED.find(([, name]) => name === reason)?.[0] ?? reason.toLowerCase().replaceAll("_", "-");
  return Object.hasOwn(FAULT_NUMBERS, code) ? (code as FaultCode) : undefined;
}

/** The details of an error as v1 §9.5 and §10.6 define them. */
export const toErrorDetails = ({ code, message, details }: FaultContent): readonly Json[] => [
  toErrorInfo(code, details),
  ...toBadRequest(message, details),
];

/** v1 §9.5: every error has an ErrorInfo. */
function toErrorInfo(code: FaultCode, details: FaultDetails): Json {
  const metadata = { ...details.facts, ...(details.taskId !== undefined && { taskId: details.taskId }) };
  return {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: REASONS[code] ?? code.toUpperCase().replaceAll("-", "_"),
    domain: PROTOCOL_ERRORS.has(code) ? "a2a-protocol.org" : "dragoman",
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

function toBadRequest(message: string, details: FaultDetails): readonly Json[] {
  if (details.field === undefined) return [];
  return [
    {
      "@type": "type.googleapis.com/google.rpc.BadRequest",
      fieldViolations: [{ field: details.field, description: message }],
    },
  ];
}
