import { Metadata, type StatusObject, status } from "@grpc/grpc-js";
import type { WireFault, WireReply } from "../../ports.ts";
import { DETAILS } from "../../protobuf/details.ts";

const TYPES: ReadonlySet<unknown> = new Set(
  ["ErrorInfo", "BadRequest"].map(name => `type.googleapis.com/google.rpc.${name}`),
);

export function toMetadata(headers: WireReply["headers"]): Metadata {
  const metadata = new Metadata();
  for (const name in headers) metadata.set(name, headers[name] as string);
  return metadata;
}

/** v1 §10.6: the status, and in its details what programs need to know. */
export function toStatus(fault: WireFault, headers: WireReply["headers"]): StatusObject {
  const code = status[fault.grpc as keyof typeof status] ?? status.UNKNOWN;
  const { message, data } = fault;
  const details = Array.isArray(data) ? data.filter(one => TYPES.has(one?.["@type"])) : [];
  const metadata = toMetadata(headers);
  metadata.set("grpc-status-details-bin", DETAILS.encode(JSON.stringify({ code, message, details })));
  return { code, details: message, metadata };
}
