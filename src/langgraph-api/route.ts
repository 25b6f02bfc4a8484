/** A route of the API as an endpoint: every call is authenticated, counted, observed and answered in the same way. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { Fault, type Scope } from "../model/index.ts";
import type {
  Authenticator,
  CallObserver,
  Endpoint,
  EndpointRequest,
  EndpointResponse,
  Operation,
  OperationResult,
  Pipeline,
  Principal,
  StepStream,
} from "../ports/index.ts";
import { checkJson, invalidField } from "../protocol/shared/fields.ts";
import type { ResourceAction, ResourceAuthorizer, ResourceFilter } from "./authorize.ts";
import { toFaultResponse } from "./faults.ts";

export interface ApiRoute {
  readonly verb: Endpoint["verb"];
  readonly path: string;
  /** "public": no authentication. */
  readonly access: "read" | "write" | "public";
  serve(call: ApiCall): ApiReply | Promise<ApiReply>;
}

/** A response: JSON (undefined: no body), or a text that is sent piece by piece. */
export interface ApiReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly stream?: AsyncIterable<string>;
}

export interface ApiCall extends Pick<EndpointRequest, "vars" | "query" | "headers" | "base" | "signal"> {
  readonly scope: Scope;
  readonly principal: Principal | undefined;
  /** null: there is none. */
  readonly body: Json;
  readonly observer: CallObserver | undefined;
  /** Authorizes an operation by the caller's permissions, counts it against its quotas, and executes it. */
  execute(operation: Operation): Promise<OperationResult | StepStream>;
  /** See `ResourceAuthorizer`. */
  authorize(
    action: ResourceAction,
    value: Record<string, Json>,
  ): Promise<{ readonly value: Readonly<Record<string, Json>>; readonly filter: ResourceFilter | undefined }>;
}

export interface RouteParts {
  readonly pipeline: Pipeline;
  readonly authenticator: Authenticator;
  readonly authorizer: ResourceAuthorizer;
}

const DIALECT = "langgraph-api";
const NEEDED: Readonly<Record<"read" | "write", Operation>> = {
  read: { op: "read-resource", agent: undefined },
  write: { op: "write-resource", agent: undefined },
};

export const toEndpoint = (parts: RouteParts, route: ApiRoute): Endpoint => ({
  verb: route.verb,
  path: route.path,
  async serve(request) {
    const { pipeline } = parts;
    const method = `${route.verb} ${route.path}`;
    const observed = { transport: "rest", headers: request.headers, method, params: undefined } as const;
    let observer: CallObserver | undefined;
    try {
      if (route.access === "public") return toResponse(await route.serve(toPublicCall(request)));
      const principal = await pipeline.authenticate(request, undefined);
      observer = pipeline.startCall(observed, DIALECT);
      const call = await toCall(parts, route.access, request, principal, observer);
      const response = toResponse(await route.serve(call));
      const added = observer?.headers();
      return added ? { ...response, headers: { ...added, ...response.headers } } : response;
    } catch (error) {
      return toFaultResponse(pipeline.recordFault(error, observed, DIALECT, observer));
    } finally {
      observer?.onEnd();
    }
  },
});

async function toCall(
  { pipeline, authenticator, authorizer }: RouteParts,
  access: "read" | "write",
  request: EndpointRequest,
  principal: Principal | undefined,
  observer: CallObserver | undefined,
): Promise<ApiCall> {
  const text = await request.body();
  const { vars, query, headers, base, signal } = request;
  const context = { principal, signal };
  await pipeline.execute(NEEDED[access], { ...context, observer, bytes: Buffer.byteLength(text) });
  const scope = authenticator.authorize(principal, NEEDED[access]);
  const caller = { scope, principal, headers };
  return {
    ...{ vars, query, headers, base, signal, scope, principal, observer },
    body: parse(text),
    // Observed as one call.
    execute: operation => pipeline.execute(operation, { ...context, observer: undefined }),
    async authorize(action, value) {
      const filter = await authorizer.authorize({ ...action, value, caller });
      return { value, filter };
    },
  };
}

function toPublicCall({ vars, query, headers, base, signal }: EndpointRequest): ApiCall {
  const refuse = (): never => {
    throw new Error("a public route has no caller");
  };
  return {
    ...{ vars, query, headers, base, signal, principal: undefined, observer: undefined, body: null },
    get scope(): Scope {
      return refuse();
    },
    execute: async () => refuse(),
    authorize: async () => refuse(),
  };
}

/** The content type is not checked: Studio sends JSON as text/plain, to avoid a preflight request. */
function parse(text: string): Json {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Fault("parse", "The body is not JSON");
  }
}

/** The body of a call that has named members; a call without a body has none. */
export function readBody({ body }: ApiCall): JsonObject {
  if (body === null) return {};
  if (!isObject(body)) throw invalidField("body", "must be an object");
  checkJson(body, "body");
  return body;
}

function toResponse({ status, headers = {}, json, stream }: ApiReply): EndpointResponse {
  if (stream) return { status: status ?? 200, headers, text: stream };
  if (json === undefined) return { status: status ?? 204, headers, text: "" };
  return { status: status ?? 200, headers, text: JSON.stringify(json) };
}
