import { type BodyLimits, createBodyReader } from "../http/body.ts";
import { type CorsParts, isPerOrigin } from "../http/cors.ts";
import type { Bindings } from "../http/router.ts";
import { STALLED_HEARTBEATS_MAX, type Streams } from "../http/sse.ts";
import { createResponseWriter } from "../http/write-large.ts";
import type { Pipeline, UnreadBytes } from "../ports/index.ts";
import { createDocuments } from "./document.ts";
import { createEndpoints } from "./endpoint.ts";
import { createJsonRpc } from "./jsonrpc.ts";
import { createRest } from "./rest.ts";

export interface BindingParts extends Pick<CorsParts, "cors" | "corsRules"> {
  readonly pipeline: Pipeline;
  readonly streams: Streams;
  readonly unread: UnreadBytes;
  readonly limits: BodyLimits;
  readonly heartbeatMs: number;
  /** When the served documents last changed, in milliseconds. */
  readonly modifiedAt: () => number;
  readonly hasConsole: boolean;
}

/** Everything that a router serves: the bindings of the dialects, and the endpoints of the server itself. */
export function createBindings({ pipeline, streams, unread, ...parts }: BindingParts): Bindings {
  const bodies = createBodyReader(parts.limits);
  const writer = createResponseWriter(STALLED_HEARTBEATS_MAX * parts.heartbeatMs);
  const http = { pipeline, streams, bodies, writer };
  const vary = isPerOrigin(parts) ? ["A2A-Version", "Origin"] : ["A2A-Version"];
  const documents = createDocuments({
    ...http,
    modifiedAt: parts.modifiedAt,
    vary,
    hasConsole: parts.hasConsole,
  });
  return {
    jsonrpc: createJsonRpc(http),
    rest: createRest(http),
    document: documents,
    endpoint: createEndpoints({ bodies, writer, unread, sendCacheable: documents.send }),
    close() {
      streams.close();
      bodies.close();
    },
  };
}
