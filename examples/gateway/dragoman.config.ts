import { defineConfig } from "dragoman";

const { UPSTREAM_URL, UPSTREAM_TOKEN } = process.env;

/** An agent of another server, served as our own: durable, in every dialect, with our own authentication. */
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
    // An agent of our own that calls the other one.
    "chief.ts",
  ],
});
