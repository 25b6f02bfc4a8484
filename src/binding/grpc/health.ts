import { createCodecs } from "../../protocol/protobuf/codec.ts";
import type { ProtobufSchema } from "../../protocol/protobuf/schema.ts";
import type { GrpcCall } from "./call.ts";
import type { GrpcMethodParts } from "./methods.ts";
import { GrpcError, OK } from "./status.ts";

/** The standard health service of gRPC, for load balancers and probes. */
export const HEALTH: ProtobufSchema = {
  package: "grpc.health.v1",
  service: "Health",
  rpcs: {
    Check: "HealthCheckRequest: HealthCheckResponse",
    Watch: "HealthCheckRequest: stream HealthCheckResponse",
  },
  enums: { ServingStatus: ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"] },
  messages: {
    HealthCheckRequest: { service: "string 1" },
    HealthCheckResponse: { status: "ServingStatus 1" },
  },
};

/** Service names are short, and an unknown one is repeated in the error. */
const REQUEST_BYTES_MAX = 256;

/** `services`: the names of the services; the empty name stands for the whole server. */
export function createGrpcHealth(
  services: ReadonlySet<string>,
  { streams, limits }: Pick<GrpcMethodParts, "streams" | "limits">,
) {
  const codecs = createCodecs(HEALTH);
  const request = codecs("HealthCheckRequest");
  const response = codecs("HealthCheckResponse");
  /** By call: whether the service that it watches exists. */
  const watchers = new Map<GrpcCall, boolean>();
  let isServing = true;

  async function readName(call: GrpcCall): Promise<string> {
    const bytes = await call.read({ ...limits, bodyBytesMax: REQUEST_BYTES_MAX });
    try {
      return (request.decode(bytes) as { readonly service?: string }).service ?? "";
    } catch {
      throw new GrpcError("INVALID_ARGUMENT", "The message cannot be decoded");
    }
  }
  const isKnown = (name: string): boolean => name === "" || services.has(name);
  const toStatus = (): Buffer => response.encode({ status: isServing ? "SERVING" : "NOT_SERVING" });

  const handlers = {
    async Check(call: GrpcCall): Promise<void> {
      const name = await readName(call);
      if (!isKnown(name)) throw new GrpcError("NOT_FOUND", `Unknown service "${name}"`);
      call.begin({});
      call.end(OK, toStatus());
    },
    async Watch(call: GrpcCall): Promise<void> {
      const known = isKnown(await readName(call));
      if (!streams.hasRoom()) throw new GrpcError("UNAVAILABLE", "Too many streams are open on this server");
      await streams.count(watch(call, known));
    },
  };

  function watch(call: GrpcCall, known: boolean): Promise<void> {
    watchers.set(call, known);
    call.begin({});
    call.write(known ? toStatus() : response.encode({ status: "SERVICE_UNKNOWN" }));
    return new Promise(resolve =>
      call.once("close", () => {
        watchers.delete(call);
        resolve();
      }),
    );
  }

  return {
    handlers,
    /** Sends NOT_SERVING to watchers. */
    refuseNew(): void {
      isServing = false;
      for (const [watcher, known] of watchers) if (known) watcher.write(toStatus());
    },
    close(): void {
      for (const watcher of watchers.keys()) watcher.end(OK);
    },
  };
}
