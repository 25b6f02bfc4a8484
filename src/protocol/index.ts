import type { Dialect } from "../ports/index.ts";
import { createV1, type V1Options } from "./a2a-v1/index.ts";
import { V1_API } from "./a2a-v1/schema.ts";
import { createV01, type V01Options } from "./a2a-v01/index.ts";
import { createV02, type V02Options } from "./a2a-v02/index.ts";
import { createV03, type V03Options } from "./a2a-v03/index.ts";
import { V03_API, V03_SCHEMA } from "./a2a-v03/schema.ts";
import { createV11 } from "./a2a-v11/index.ts";
import { V11_API, V11_SCHEMA } from "./a2a-v11/schema.ts";
import { createAgUi } from "./ag-ui/index.ts";
import { AG_UI_API } from "./ag-ui/schema.ts";
import { createAiSdkUi } from "./ai-sdk-ui/index.ts";
import { AI_SDK_UI_API } from "./ai-sdk-ui/schema.ts";
import { createArbiter } from "./arbiter/index.ts";
import { ARBITER_API } from "./arbiter/schema.ts";
import { createCatalogs } from "./catalog/index.ts";
import { createLanggraph } from "./langgraph/index.ts";
import { createOpenai } from "./openai/index.ts";
import { OPENAI_API } from "./openai/schema.ts";
import type { ApiDescription } from "./openapi/description.ts";
import { createOrloj } from "./orloj/index.ts";
import type { VendorProfile } from "./shared/routes.ts";
import { createSimple } from "./simple-a2a/index.ts";

export type DialectOptions = V1Options &
  V01Options &
  V02Options &
  V03Options &
  Readonly<Record<"langgraph" | "orloj" | "arbiter" | "simple", VendorProfile | "off">> &
  Readonly<Record<"openai" | "aisdk" | "agui" | "catalog", "on" | "off">>;

/** All protocols, in the order in which they may claim a call. */
export function createDialects(options: DialectOptions): readonly Dialect[] {
  return [
    ...(options.langgraph === "off" ? [] : [createLanggraph(options.langgraph)]),
    ...(options.orloj === "off" ? [] : [createOrloj(options.orloj)]),
    ...(options.arbiter === "off" ? [] : [createArbiter(options.arbiter)]),
    ...(options.simple === "off" ? [] : [createSimple(options.simple)]),
    ...(options.openai === "off" ? [] : [createOpenai()]),
    ...(options.aisdk === "off" ? [] : [createAiSdkUi()]),
    ...(options.agui === "off" ? [] : [createAgUi()]),
    ...(options.catalog === "off" ? [] : [createCatalogs()]),
    ...(options.v11 === "off" ? [] : [createV11(options)]),
    createV1(options),
    createV01(options),
    createV02(options),
    createV03(options),
  ];
}

/** The gRPC services: the package of a call decides its dialect. Calls of 1.0 have the package of 1.1, and ignore its fields. */
export const GRPC_PACKAGES = [V11_SCHEMA, V03_SCHEMA];

/** For the OpenAPI document, by dialect and in its order; of most vendors only the routes are described. */
export const API_DESCRIPTIONS: Readonly<Record<string, ApiDescription>> = {
  v11: V11_API,
  v1: V1_API,
  v03: V03_API,
  v02: { title: "A2A 0.2", version: "0.2" },
  v01: { title: "A2A 0.1", version: "0.1" },
  langgraph: {
    title: "LangGraph Agent Server",
    accept: true,
    documentQuery: {
      assistant_id: {
        type: "string",
        description: "The name or the id of an agent: its card, in LangGraph's form",
      },
    },
  },
  orloj: {
    title: "Orloj",
    unnamedAgent: "the agent that the metadata names",
    summaries: {
      systems: "List the agents that the caller can see as AgentSystems",
      system: "Describe one agent as an AgentSystem",
    },
  },
  simple: { title: "simple_a2a" },
  arbiter: ARBITER_API,
  openai: OPENAI_API,
  aisdk: AI_SDK_UI_API,
  agui: AG_UI_API,
  catalog: {
    title: "Catalogs",
    summaries: {
      "ai-catalog": "The agents of this server as an AI Catalog",
      "api-catalog": "The agents of this server as a linkset (RFC 9727)",
    },
  },
};
