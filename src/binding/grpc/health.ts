import { createCodecs } from "../../protocol/protobuf/codec.ts";
import type { Schema } from "../../protocol/protobuf/schema.ts";
import type { GrpcCall } from "./call.ts";
import type { CallParts } from "./calls.ts";
import { GrpcRefusal, OK } from "./status.ts";

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

/** Names are short, and are said again where they are not known. */
const REQUEST_BYTES_MAX = 256;

export type HealthParts = Pick<CallParts, "streams" | "limits">;

/** `served`: the names of what is served; the server as a whole has the empty name. */
export function createHealth(served: ReadonlySet<string>, { streams, limits }: HealthParts) {
  const codecs = createCodecs(HEALTH);
  const request = codecs("HealthCheckRequest");
  const response = codecs("HealthCheckResponse");
  /** And whether what they watch is there. */
  const watchers = new Map<GrpcCall, boolean>();
  let serving = true;

  async function nameIn(call: GrpcCall): Promise<string> {
    const bytes = await call.read({ ...limits, bodyBytesMax: REQUEST_BYTES_MAX });
    try {
      return (request.decode(bytes) as { readonly service?: string }).service ?? "";
    } catch {
      throw new GrpcRefusal("INVALID_ARGUMENT", "The message cannot be read");
    }
  }
  const isKnown = (name: string): boolean => name === "" || served.has(name);
  const say = (word: string): Buffer => response.encode(JSON.stringify({ status: word }));
  const now = (): Buffer => say(serving ? "SERVING" : "NOT_SERVING");

  const answers = {
    async Check(call: GrpcCall): Promise<void> {
      const name = await nameIn(call);
      if (!isKnown(name)) throw new GrpcRefusal("NOT_FOUND", `Nothing is called "${name}" here`);
      call.begin({});
      call.end(OK, now());
    },
    async Watch(call: GrpcCall): Promise<void> {
      const known = isKnown(await nameIn(call));
      if (!streams.hasRoom())
        throw new GrpcRefusal("UNAVAILABLE", "Too many streams are open on this server");
      await streams.count(watch(call, known));
    },
  };

  function watch(call: GrpcCall, known: boolean): Promise<void> {
    watchers.set(call, known);
    call.begin({});
    call.write(known ? now() : say("SERVICE_UNKNOWN"));
    return new Promise(resolve =>
      call.once("close", () => {
        watchers.delete(call);
        resolve();
      }),
    );
  }

  return {
    answers,
    /** Watchers are told that nothing new is taken. */
    refuseNew(): void {
      serving = false;
      for (const [watcher, known] of watchers) if (known) watcher.write(now());
    },
    close(): void {
      for (const watcher of watchers.keys()) watcher.end(OK);
    },
  };
}
