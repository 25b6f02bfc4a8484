import { describe, expect, it } from "vitest";
import type { Dialect, Route } from "../ports/index.ts";
import { createRoutes } from "./routes.ts";

const toRoute = (path: string): Route => ({ transport: "rest", verb: "GET", path, method: path });
const dialect = (...paths: readonly string[]): Dialect =>
  ({ routes: paths.map(toRoute) }) as unknown as Dialect;

/** The match among these patterns, which must not depend on their order. */
function found(patterns: readonly string[], path: string): { endpoint: string; vars: object } | null {
  const [one, other] = [patterns, patterns.toReversed()].map(list =>
    createRoutes([dialect(...list)], [])(path),
  );
  expect(one).toEqual(other);
  return one ? { endpoint: one.endpoint, vars: { ...one.vars } } : null;
}

const PATTERNS = [
  "/",
  "/agents",
  "/agents/{agent}",
  "/agents/{agent}/tasks/{id}",
  "/agents/{agent}/{tenant}/tasks/{id}",
  "/tasks",
  "/tasks/{id}",
  "/tasks/{id}:cancel",
  "/tasks/{taskId}/configs/{id}",
  "/{tenant}/tasks",
  "/{tenant}/tasks/{id}:cancel",
  "/v1/tasks/{id}",
  "/v1/agents/{agent}/a2a",
  "/v1/a2a/agents/{agent}",
  "/v1/requests/{id}/cancel",
  "/a2a/{agent}",
];

const MATCHES: readonly (readonly [path: string, endpoint: string, vars: object])[] = [
  ["/", "/", {}],
  ["/agents/echo", "/agents/{agent}", { agent: "echo" }],
  ["/agents/echo/", "/agents/{agent}", { agent: "echo" }],
  ["/agents/tasks", "/agents/{agent}", { agent: "tasks" }],
  ["/agents/echo/tasks/1", "/agents/{agent}/tasks/{id}", { agent: "echo", id: "1" }],
  [
    "/agents/echo/acme/tasks/1",
    "/agents/{agent}/{tenant}/tasks/{id}",
    { agent: "echo", tenant: "acme", id: "1" },
  ],
  ["/tasks", "/tasks", {}],
  ["/tasks/1/configs/2", "/tasks/{taskId}/configs/{id}", { taskId: "1", id: "2" }],
  ["/acme/tasks", "/{tenant}/tasks", { tenant: "acme" }],
  ["/v1/agents/echo/a2a", "/v1/agents/{agent}/a2a", { agent: "echo" }],
  ["/v1/a2a/agents/echo", "/v1/a2a/agents/{agent}", { agent: "echo" }],
  ["/v1/requests/7/cancel", "/v1/requests/{id}/cancel", { id: "7" }],
  ["/a2a/tasks", "/a2a/{agent}", { agent: "tasks" }],
];

describe("routes", () => {
  it.each(MATCHES)("%s matches %s, whatever the order of the patterns", (path, endpoint, vars) => {
    expect(found(PATTERNS, path)).toEqual({ endpoint, vars });
  });

  it.each(["/v1/tasks", "/a2a", "/nothing", "/acme/nothing", "/agents//tasks/1", "//tasks", "/tasks/1/2"])(
    "a fixed segment is not taken for a variable: %s matches nothing",
    path => expect(found(PATTERNS, path)).toBeNull(),
  );

  it("a suffix is split off at the last colon, if a pattern has it; the value is decoded afterwards", () => {
    const id = (segment: string) => found(PATTERNS, `/tasks/${segment}`);
    expect(id("a:b:cancel")).toEqual({ endpoint: "/tasks/{id}:cancel", vars: { id: "a:b" } });
    expect(id("a%3Ab:cancel")).toEqual({ endpoint: "/tasks/{id}:cancel", vars: { id: "a:b" } });
    expect(id("a%3Acancel")).toEqual({ endpoint: "/tasks/{id}", vars: { id: "a:cancel" } });
    expect(id("a:cancel:b")).toEqual({ endpoint: "/tasks/{id}", vars: { id: "a:cancel:b" } });
    expect(id(":cancel")).toEqual({ endpoint: "/tasks/{id}", vars: { id: ":cancel" } });
    expect(id("a%2Fb%20c")).toEqual({ endpoint: "/tasks/{id}", vars: { id: "a/b c" } });
  });

  it("a value with invalid percent-encoding matches nothing", () => {
    expect(found(PATTERNS, "/tasks/%zz")).toBeNull();
  });

  it("the first dialect in the list names the method of a shared path", () => {
    const routes = createRoutes(
      [
        { routes: [{ ...toRoute("/v1/tasks/{id}"), method: "GetTask" }] } as unknown as Dialect,
        { routes: [{ ...toRoute("/v1/tasks/{id}"), method: "tasks/get" }] } as unknown as Dialect,
      ],
      [],
    );
    expect(routes("/v1/tasks/1")?.byVerb.get("GET")).toMatchObject({ method: "GetTask" });
  });

  it("two variable names at the same place of a path are an error", () => {
    expect(() => createRoutes([dialect("/tasks/{id}"), dialect("/tasks/{task}")], [])).toThrow(
      "/tasks/{task} is the same path as /tasks/{id}",
    );
  });
});
