import { loadOptionalPackage } from "../../lib/optional-package.ts";
import { StartupError } from "../../lib/startup-error.ts";
import { ClientError } from "../errors.ts";
import type { HttpTarget } from "../http.ts";
import type { Transport } from "../transport.ts";

/** `@grpc/grpc-js` is an optional peer dependency: it is loaded with the first agent that is called over gRPC. */
export async function createGrpc(
  target: HttpTarget,
  load = () => import("./transport.ts"),
): Promise<Transport & { close(): void }> {
  try {
    const transport = await loadOptionalPackage("@grpc/grpc-js", "Calling an agent over gRPC", load);
    return transport.createGrpcTransport(target);
  } catch (error) {
    throw error instanceof StartupError ? new ClientError(error.message, error) : error;
  }
}
