import { defineConfig } from "dragoman";

const { UPSTREAM_URL, UPSTREAM_TOKEN } = process.env;

/** An agent of another server, served as ours: durable, in every dialect, behind our own doors. */
export default defineConfig({
  agents: [
    {
      runtime: "remote",
      name: "gateway",
      card: UPSTREAM_URL ?? "http://127.0.0.1:2024",
      // The name of the variable, not the token.
      auth: UPSTREAM_TOKEN ? { bearerEnv: "UPSTREAM_TOKEN" } : undefined,
      timeoutMs: 10 * 60_000,
    },
    // Beside it an agent of our own that asks the other one.
    "chief.ts",
  ],
});
