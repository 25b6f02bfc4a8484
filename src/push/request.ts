import { createHmac } from "node:crypto";
import type { PushConfig, Task } from "../model/index.ts";
import type { Encryption, Signer } from "../ports/index.ts";
import { WEBHOOK_HEADERS } from "../webhook/index.ts";
import type { PushPayload } from "./payload.ts";

export interface PushRequestParts {
  readonly encryption: Encryption;
  readonly signer: Signer;
}

export interface PushRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `id` is the same at every attempt, `at` is the time of this one. */
export function toPushRequest(
  parts: PushRequestParts,
  config: PushConfig,
  { encoded, task }: PushPayload,
  { id, at }: { readonly id: string; readonly at: number },
): PushRequest {
  const body = JSON.stringify(encoded.body);
  const seconds = Math.floor(at / 1_000);
  const jws = parts.signer.sign(body, { typ: "JOSE", jti: id, iat: seconds });
  return {
    url: config.url,
    body,
    headers: {
      ...toSecretHeaders(parts.encryption, config, `${id}.${seconds}.${body}`),
      ...encoded.headers,
      ...toTraceHeaders(task),
      "content-type": encoded.type,
      "user-agent": "Dragoman-Webhook/1",
      // The response body is discarded.
      "accept-encoding": "identity",
      [WEBHOOK_HEADERS.id]: id,
      [WEBHOOK_HEADERS.timestamp]: String(seconds),
      [WEBHOOK_HEADERS.jws]: `${jws.protected}..${jws.signature}`,
    },
  };
}

/** `signed`: the content that a Standard Webhooks signature covers. */
function toSecretHeaders(encryption: Encryption, config: PushConfig, signed: string): Record<string, string> {
  const { token, secret, authentication } = config;
  const headers: Record<string, string> = {};
  if (authentication?.credentials !== undefined) {
    const [scheme] = authentication.schemes;
    const credentials = encryption.decrypt(authentication.credentials);
    headers[authentication.header?.toLowerCase() ?? "authorization"] = scheme
      ? `${scheme} ${credentials}`
      : credentials;
  }
  if (token !== undefined) headers["x-a2a-notification-token"] = encryption.decrypt(token);
  if (secret !== undefined) {
    const key = Buffer.from(encryption.decrypt(secret).replace(/^whsec_/, ""), "base64");
    const signature = createHmac("sha256", key).update(signed).digest("base64");
    headers[WEBHOOK_HEADERS.signature] = `v1,${signature}`;
  }
  return headers;
}

function toTraceHeaders({ trace }: Task): Record<string, string> {
  if (!trace) return {};
  const { traceparent, tracestate } = trace;
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}
