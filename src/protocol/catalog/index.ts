import type { Dialect } from "../../ports/index.ts";
import { AI_CATALOG_TYPE, CATALOG_LINKS } from "../shared/catalog-links.ts";
import { JSON_RPC, toEndpoints } from "../shared/routes.ts";
import { encodeAiCatalog, encodeApiCatalog } from "./encode.ts";
import { encodeFault, FAULTS } from "./faults.ts";
import { METHODS, ROUTES } from "./routes.ts";

const ENDPOINTS = toEndpoints(ROUTES);
/** RFC 9727 §3: the catalog has a link to itself, so that a HEAD request finds it. */
const AI_CATALOG_HEADERS = { ...CATALOG_LINKS, "Content-Type": AI_CATALOG_TYPE };
const LINKSET = {
  ...CATALOG_LINKS,
  "Content-Type": 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
};

/** Catalogs of the agents: AI Catalog 1.0, and the API catalog of RFC 9727. */
export function createCatalogs(): Dialect {
  return {
    name: "catalog",
    routes: ROUTES,
    faults: FAULTS,
    envelope: JSON_RPC,
    signsCards: false,
    claims: call => ENDPOINTS.has(call.endpoint),
    decode: call => (METHODS[call.method] as (typeof METHODS)[string])(call),
    encode({ form }, result) {
      if (result.kind !== "agents")
        throw new Error(`a catalog cannot have a result of the kind "${result.kind}"`);
      return form === "ai-catalog" ? encodeAiCatalog(result) : encodeApiCatalog(result);
    },
    replyDialect: () => "catalog",
    encodeStep: () => null,
    createEncoder: () => null,
    encodePush: () => null,
    encodeFault,
    replyHeaders: call => (call.method === "api-catalog" ? LINKSET : AI_CATALOG_HEADERS),
  };
}
