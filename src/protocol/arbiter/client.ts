import type { ClientDialect } from "../../client/client-protocol.ts";
import { v03 } from "../a2a-v03/client.ts";
import { WRONG_VERSION } from "./faults.ts";

/** Accepts text only. Its cards claim version 1.0, but its messages are those of 0.3. */
export const arbiter: ClientDialect = {
  ...v03,
  version: "1.0",
  title: "Arbiter",
  toFault: number => (number === WRONG_VERSION ? "version-not-supported" : v03.toFault(number)),
  resumeBy: "replay",
  repeatsText: true,
};
