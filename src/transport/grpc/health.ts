import { type ServerUnaryCall, type ServerWritableStream, type sendUnaryData, status } from "@grpc/grpc-js";
import { createCodecs } from "../../protobuf/codec.ts";
import type { Schema } from "../../protobuf/schema.ts";
import type { Streams } from "../sse.ts";

/** The standard health checks of gRPC: what load balancers and probes ask. */
export const HEALTH: Schema = {
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

type Watcher = ServerWritableStream<Buffer, Buffer>;

/** `served`: the names of what is served; the server as a whole has the empty name. */
export function createHealth(served: ReadonlySet<string>, streams: Streams) {
  const codecs = createCodecs(HEALTH);
  const request = codecs("HealthCheckRequest");
  const response = codecs("HealthCheckResponse");
  /** And whether what they watch is there. */
  const watchers = new Map<Watcher, boolean>();
  let serving = true;

  const nameIn = (bytes: Buffer): string =>
    (request.decode(bytes) as { readonly service?: string }).service ?? "";
  const isKnown = (name: string): boolean => name === "" || served.has(name);
  const say = (word: string): Buffer => response.encode(JSON.stringify({ status: word }));
  const now = (): Buffer => say(serving ? "SERVING" : "NOT_SERVING");

  const handlers = {
    Check(call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) {
      const name = nameIn(call.request);
      if (isKnown(name)) done(null, now());
      else done({ code: status.NOT_FOUND, details: `Nothing is called "${name}" here` });
    },
    Watch(call: Watcher) {
      if (streams.hasRoom()) return streams.count(watch(call));
      call.emit("error", { code: status.UNAVAILABLE, details: "Too many streams are open on this server" });
    },
  };

  function watch(call: Watcher): Promise<void> {
    const known = isKnown(nameIn(call.request));
    watchers.set(call, known);
    call.write(known ? now() : say("SERVICE_UNKNOWN"));
    return new Promise(resolve =>
      call.once("cancelled", () => {
        watchers.delete(call);
        resolve();
      }),
    );
  }

  return {
    handlers,
    /** Watchers are told that nothing new is taken. */
    refuseNew(): void {
      serving = false;
      for (const [watcher, known] of watchers) if (known) watcher.write(now());
    },
    close(): void {
      for (const watcher of watchers.keys()) watcher.end();
    },
  };
}
