import { Fault, type Permission, type Scope } from "../model/index.ts";
import type {
  Authenticator,
  Endpoint,
  EndpointRequest,
  EndpointResponse,
  ExecuteOperation,
  Operation,
  OwnerFilter,
  Principal,
} from "../ports/index.ts";

/** A caller of the admin API. */
export interface AdminCaller {
  readonly principal: Principal;
  /** It sees the tasks of all callers, and what is for operators alone. */
  readonly isOperator: boolean;
  readonly mayAct: boolean;
  /** Whose tasks it sees: all, those of the tenant that the query names, or its own. */
  readonly owners: OwnerFilter;
  /** Its own scope; of the tenant that the query names, or of its only one. */
  readonly scope: () => Scope;
}

export interface AdminRoute {
  readonly verb: Endpoint["verb"];
  /** Below the base path. */
  readonly path: string;
  readonly needs: "read" | "act" | "operator" | "operator-act";
  /** For the OpenAPI document. */
  readonly summary: string;
  serve(call: EndpointRequest, caller: AdminCaller): EndpointResponse | Promise<EndpointResponse>;
}

export interface AdminAccessParts {
  readonly authenticator: Authenticator;
  readonly console: "read" | "on";
  /** Applies the limits of calls: a Fault if the caller has no call left. */
  readonly limit: ExecuteOperation;
}

const LIST: Operation = {
  op: "list",
  agent: undefined,
  filter: { pageSize: 1 },
  view: { artifacts: false },
};

export function createAdminAccess({ authenticator, console, limit }: AdminAccessParts) {
  async function identify(call: EndpointRequest, allowsOperators: boolean): Promise<AdminCaller> {
    const principal = authenticator.requirePrincipal(await authenticator.authenticate(call));
    const isOperator = allowsOperators && principal.grants.includes("admin");
    const has = (permission: Permission): boolean =>
      principal.grants.includes("admin") || principal.grants.includes(permission);
    if (!has("console:read")) throw forbidden("The permission console:read is required");
    const tenant = call.query.get("tenant") ?? undefined;
    const scope = (): Scope =>
      authenticator.authorize(principal, { ...LIST, ...(tenant !== undefined && { tenant }) });
    await limit(LIST, isOperator ? ownScope(principal) : scope(), call.signal);
    return {
      principal,
      isOperator,
      mayAct: console === "on" && has("console:act"),
      owners: isOperator ? operatorOwners(principal, tenant) : scope(),
      scope,
    };
  }

  /** An operator of several tenants need not name one. */
  const ownScope = (principal: Principal): Scope => {
    const [tenant] = principal.tenants;
    return authenticator.authorize(principal, {
      op: "agents",
      agent: undefined,
      base: "",
      ...(tenant && { tenant }),
    });
  };

  return {
    /** `allowsOperators`: on this port. */
    toEndpoint:
      (basePath: string, allowsOperators: boolean) =>
      (route: AdminRoute): Endpoint => ({
        verb: route.verb,
        path: `${basePath}${route.path}`,
        async serve(call) {
          const caller = await identify(call, allowsOperators);
          if (route.needs.startsWith("operator") && !caller.isOperator)
            throw forbidden("The permission admin is required");
          if (route.needs.endsWith("act")) checkChange(call, caller, console);
          return route.serve(call, caller);
        },
      }),
  };
}

const operatorOwners = ({ agents }: Principal, tenant: string | undefined): OwnerFilter => ({
  ...(tenant !== undefined && { tenant }),
  ...(agents && { agents }),
});

function checkChange(call: EndpointRequest, { mayAct }: AdminCaller, console: "read" | "on"): void {
  if (console === "read") throw forbidden("The console of this server is read only");
  if (!mayAct) throw forbidden("The permission console:act is required");
  // CSRF: a foreign page can make a browser send any other content type.
  const type = call.headers["content-type"];
  if (type !== undefined && !type.startsWith("application/json"))
    throw new Fault("invalid-params", "Content-Type must be application/json", { field: "Content-Type" });
}

const forbidden = (message: string): Fault => new Fault("forbidden", message);
