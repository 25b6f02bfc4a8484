/** How agents get what they need to act for their callers elsewhere: from the ask to the task that goes on. */
import { toScope } from "../auth/scope.ts";
import type { OAuthProviders } from "../model/index.ts";
import { createOAuthPages } from "../oauth/authorization-routes.ts";
import { createCredentialRoutes } from "../oauth/credential-routes.ts";
import { createCredentials } from "../oauth/index.ts";
import { goOnAuthorized, isAsking } from "../operation/credentials.ts";
import type { CoreParts } from "../operation/lookup.ts";
import type {
  Authenticator,
  Credentials,
  Encryption,
  Endpoint,
  ExecuteOperation,
  Fetch,
  Log,
  Store,
} from "../ports/index.ts";

export interface AuthorizationParts {
  readonly settings: { readonly publicUrl: string | undefined; readonly oauth: OAuthProviders | undefined };
  readonly store: Store;
  readonly vault: Encryption;
  readonly fetch: Fetch;
  readonly log: Log;
  readonly wallTime: () => number;
  readonly chance: (bytes: number) => string;
}

export interface Authorization {
  readonly credentials: Credentials;
  /** Where callers reach this server, unless its settings say otherwise. */
  listensAt(url: string): void;
  routes(house: {
    readonly coreParts: CoreParts;
    readonly core: ExecuteOperation;
    readonly guard: Authenticator;
    readonly isOwnBase: (base: string) => boolean;
  }): readonly Endpoint[];
}

export function openAuthorization(parts: AuthorizationParts): Authorization {
  const { settings, store } = parts;
  let heardAt: string | undefined;
  const base = (): string | undefined => settings.publicUrl ?? heardAt;
  const desk = createCredentials({ ...parts, shelf: store.storage, providers: settings.oauth ?? {}, base });
  return {
    credentials: desk,
    listensAt: url => void (heardAt = url),
    routes({ coreParts, core, guard, isOwnBase }) {
      const pages = createOAuthPages({
        ...parts,
        desk,
        baseFor: called => (isOwnBase(called) ? called : base()),
        // What it is made from was sealed by this server when its owner was admitted.
        toScope: (tenant, principal) => toScope(tenant, principal),
        waits: (scope, taskId, messageId) => isAsking(coreParts, scope, taskId, messageId),
        goOn: (scope, taskId, messageId) => goOnAuthorized(coreParts, scope, taskId, messageId),
      });
      return [
        ...pages,
        ...createCredentialRoutes({ safe: desk.safe, guard, core, catalog: coreParts.catalog }),
      ];
    },
  };
}
