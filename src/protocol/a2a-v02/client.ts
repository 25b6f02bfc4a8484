import type { ClientDialect } from "../../client/client-protocol.ts";
import { v03, writeV03Send } from "../a2a-v03/client.ts";

/** v0.2 requires `acceptedOutputModes`. */
export const v02: ClientDialect = {
  ...v03,
  version: "0.2",
  title: "A2A 0.2",
  writeSend: message => writeV03Send({ accepts: ["*/*"], ...message }),
};
