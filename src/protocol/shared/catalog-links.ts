/** Where the catalogs are, for responses that lead to them. */
export const AI_CATALOG = "/.well-known/ai-catalog.json";
export const API_CATALOG = "/.well-known/api-catalog";
export const AI_CATALOG_TYPE = "application/ai-catalog+json";

/** AI Catalog 1.0, "Link Relation Discovery"; RFC 9727 §3. */
export const CATALOG_LINKS = {
  Link: `<${API_CATALOG}>; rel="api-catalog", <${AI_CATALOG}>; rel="ai-catalog"; type="${AI_CATALOG_TYPE}"`,
};
