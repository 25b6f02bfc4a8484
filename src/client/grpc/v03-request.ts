import { GRPC_NAMES } from "../../protocol/a2a-v03/names.ts";
import type { TransportRequest } from "../transport.ts";

/** v0.3 over gRPC: resource names instead of ids, and names of its own for some methods. */
export function toV03Request(request: TransportRequest): TransportRequest {
  const { taskId, id, ...rest } = request.params;
  const [, method = request.method] = GRPC_NAMES.find(([name]) => name === request.method) ?? [];
  const task = `tasks/${taskId ?? id}`;
  if (taskId !== undefined) {
    const of = id === undefined ? { parent: task } : { name: `${task}/pushNotificationConfigs/${id}` };
    return { ...request, method, params: { ...rest, ...of } };
  }
  return { ...request, method, params: id === undefined ? rest : { ...rest, name: task } };
}
