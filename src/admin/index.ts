/** The admin API: everything that the console shows, for scripts too. */
import type { Endpoint } from "../ports/index.ts";
import { type AdminAccessParts, type AdminRoute, createAdminAccess } from "./access.ts";
import { type AgentRouteParts, createAgentRoutes } from "./agent-routes.ts";
import { ADMIN_API_PATH } from "./api.ts";
import { createContextRoutes } from "./context-routes.ts";
import { hasTasks } from "./curl.ts";
import { createDeliveryRoutes } from "./deliveries.ts";
import { toTitled } from "./dialect-views.ts";
import { createDocRoutes, type DocRouteParts } from "./doc-routes.ts";
import { createAdminOpenApi, createOpenApiRoute } from "./openapi.ts";
import { createServerRoutes, type ServerRouteParts } from "./server-routes.ts";
import { createTaskCounter } from "./task-counts.ts";
import { createTaskRoutes, type TaskRouteParts } from "./task-routes.ts";
import { createTokenAdminRoutes, type TokenRouteParts } from "./token-routes.ts";

export { startFigures } from "./figures.ts";
export { createLogLines, type LogLines } from "./log-lines.ts";
export { toLimitRows } from "./server-routes.ts";

export interface AdminApiParts
  extends AdminAccessParts,
    TaskRouteParts,
    Omit<AgentRouteParts, "countTasks">,
    Omit<ServerRouteParts, "dialects" | "features" | "countTasks">,
    DocRouteParts {
  readonly features: Omit<ServerRouteParts["features"], "tokens" | "openai">;
  /** undefined: this server issues no tokens. */
  readonly tokens: TokenRouteParts["tokens"] | undefined;
}

/** The endpoints; `allowsOperators`: whether operators have their rights on this port. */
export function createAdminApi(parts: AdminApiParts): (allowsOperators: boolean) => readonly Endpoint[] {
  const { store, tokens } = parts;
  const countTasks = createTaskCounter({ ...parts, overview: store.overview });
  const routes: AdminRoute[] = [
    ...createServerRoutes({
      ...parts,
      countTasks,
      dialects: toTitled(parts.dialects, parts.titles)
        .filter(hasTasks)
        .map(({ name, title }) => ({ name, title })),
      features: {
        ...parts.features,
        tokens: tokens !== undefined,
        openai: parts.dialects.some(({ name }) => name === "openai"),
      },
    }),
    ...createAgentRoutes({ ...parts, countTasks }),
    ...createTaskRoutes(parts),
    ...createContextRoutes({ store }),
    ...createDeliveryRoutes({ store }),
    ...(tokens ? createTokenAdminRoutes({ tokens }) : []),
    ...createDocRoutes(parts),
  ];
  routes.push(createOpenApiRoute(() => createAdminOpenApi(routes, parts.version)));
  const access = createAdminAccess(parts);
  return allowsOperators => routes.map(access.toEndpoint(ADMIN_API_PATH, allowsOperators));
}
