import { createHmac } from "node:crypto";
import type { PushConfig, Task } from "../model/index.ts";
import type { Encryption, Signer } from "../ports/index.ts";
import { WEBHOOK_HEADERS } from "../webhook/index.ts";
import type { Parcel } from "./payload.ts";

export interface LetterParts {
  readonly vault: Encryption;
  readonly signer: Signer;
}

/** A parcel as it goes out. */
export interface Letter {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Writes and signs it. `id` is the same at every attempt, `at` is when this one is made. */
export function toLetter(
  parts: LetterParts,
  config: PushConfig,
  { said, task }: Parcel,
  { id, at }: { readonly id: string; readonly at: number },
): Letter {
  const body = JSON.stringify(said.body);
  const seconds = Math.floor(at / 1_000);
  const jws = parts.signer.sign(body, { typ: "JOSE", jti: id, iat: seconds });
  return {
    url: config.url,
    body,
    headers: {
      ...secretHeaders(parts.vault, config, `${id}.${seconds}.${body}`),
      ...traceHeaders(task),
      "content-type": said.type,
      "user-agent": "Dragoman-Webhook/1",
      // Nobody reads what comes back.
      "accept-encoding": "identity",
      [WEBHOOK_HEADERS.id]: id,
      [WEBHOOK_HEADERS.timestamp]: String(seconds),
      [WEBHOOK_HEADERS.jws]: `${jws.protected}..${jws.signature}`,
    },
  };
}

/** What only the receiver and whoever set the config know. `signed`: see Standard Webhooks. */
function secretHeaders(vault: Encryption, config: PushConfig, signed: string): Record<string, string> {
  const { token, secret, authentication } = config;
  const headers: Record<string, string> = {};
  if (authentication?.credentials !== undefined) {
    const [scheme] = authentication.schemes;
    const credentials = vault.decrypt(authentication.credentials);
    headers[authentication.header?.toLowerCase() ?? "authorization"] = scheme
      ? `${scheme} ${credentials}`
      : credentials;
  }
  if (token !== undefined) headers["x-a2a-notification-token"] = vault.decrypt(token);
  if (secret !== undefined) {
    const key = Buffer.from(vault.decrypt(secret).replace(/^whsec_/, ""), "base64");
    const signature = createHmac("sha256", key).update(signed).digest("base64");
    headers[WEBHOOK_HEADERS.signature] = `v1,${signature}`;
  }
  return headers;
}

function traceHeaders({ trace }: Task): Record<string, string> {
  if (!trace) return {};
  const { traceparent, tracestate } = trace;
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}
