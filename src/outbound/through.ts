import { type Agent, fetch as call } from "undici";
import type { Fetch } from "../ports.ts";

/** undici's own fetch: the one of an older Node does not take agents of this version. Redirects are not followed. */
export const through =
  (dispatcher: Agent): Fetch =>
  async (url, init) =>
    (await call(url, { redirect: "manual", ...(init as object), dispatcher })) as unknown as Response;
