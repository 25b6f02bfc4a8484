import type { Route } from "../../ports/index.ts";
import { createCardRoutes, JSON_RPC_ROUTES, type MethodTable, toEndpoints } from "../shared/routes.ts";
import { createV03Methods } from "../shared/v03-routes.ts";

/** v0.2 §7: the methods of v0.3. The list and the deletion of push configs came with 0.2.5. */
export const METHODS: MethodTable = createV03Methods("v02");

export const EXTENDED_CARD = "extended-card";

const OWN_ROUTES: readonly Route[] = [
  ...createCardRoutes("/.well-known/agent.json"),
  ...createCardRoutes("/agent/authenticatedExtendedCard", EXTENDED_CARD),
];
/** Routes of later versions: v0.2 claims only calls that name it. */
const SHARED_ROUTES: readonly Route[] = [
  ...JSON_RPC_ROUTES,
  ...createCardRoutes("/.well-known/agent-card.json"),
];

export const ROUTES: readonly Route[] = [...OWN_ROUTES, ...SHARED_ROUTES];
export const OWN_ENDPOINTS = toEndpoints(OWN_ROUTES);
export const SHARED_ENDPOINTS = toEndpoints(SHARED_ROUTES);

/** A method of another version: with the policy "lenient" the method name decides, not the version. */
export const isForeignMethod = (method: string): boolean =>
  !Object.hasOwn(METHODS, method) && /^[a-z]+\/[a-zA-Z/]+$/.test(method);
