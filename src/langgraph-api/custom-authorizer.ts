/** Authorization by the handlers of a custom `Auth`. */
import type { JsonObject } from "../lib/json.ts";
import type { CustomUser } from "../ports/index.ts";
import type { ResourceAuthorizer } from "./authorize.ts";

export interface CustomAuthorizerParts {
  /** A filter of the metadata of what is touched; undefined: none. Throws a Fault if the handler refuses. */
  readonly ask: (
    user: CustomUser,
    resource: string,
    action: string,
    value: Record<string, unknown>,
  ) => Promise<JsonObject | undefined>;
}

/** Calls handlers for every route. Records belong to the caller that created them all the same: a missing handler opens nothing. */
export const createCustomAuthorizer = ({ ask }: CustomAuthorizerParts): ResourceAuthorizer => ({
  authorize: async ({ resource, action, value, caller }) =>
    caller.principal?.user && ask(caller.principal.user, resource, action, value),
  configurable({ principal }): JsonObject {
    const user = principal?.user;
    if (!user) return {};
    return {
      langgraph_auth_user: user,
      langgraph_auth_user_id: user.identity,
      langgraph_auth_permissions: user.permissions,
    };
  },
});
