/** Whether the server is there, and what it can do. */
import type { JsonObject } from "../lib/json.ts";
import { Fault } from "../model/index.ts";
import type { Store } from "../ports/index.ts";
import { readFlag } from "./fields.ts";
import type { ApiRoute } from "./route.ts";

/** The version of LangGraph's open JavaScript server with which this API is compared. Studio refuses low numbers. */
export const API_VERSION = "1.5.1";

/** What clients of the Agent Server read in `/info`, beside the version. */
export const INFO: JsonObject = {
  context: "js",
  flags: { assistants: true, crons: true, langsmith: false, langsmith_tracing_replicas: false },
  metadata: {},
};

export const createSystemRoutes = ({ maintenance }: Pick<Store, "maintenance">): readonly ApiRoute[] => [
  {
    verb: "GET",
    path: "/ok",
    access: "public",
    async serve({ query }) {
      if (readFlag(query, "check_db"))
        await maintenance.check().catch(cause => {
          throw new Fault("internal", "The store cannot write now", {}, cause);
        });
      return { json: { ok: true } };
    },
  },
];
