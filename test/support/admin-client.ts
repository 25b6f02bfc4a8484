/** A client of the admin API. */
import { ADMIN_API_PATH } from "../../src/admin/api.ts";
import type { Loose } from "./official-dialects.ts";

export interface AdminReply {
  readonly status: number;
  readonly json: Loose;
}

export async function adminGet(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<AdminReply> {
  const response = await fetch(`${url}${ADMIN_API_PATH}${path}`, { headers });
  return { status: response.status, json: (await response.json()) as Loose };
}

export async function adminPost(
  url: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<AdminReply> {
  const response = await fetch(`${url}${ADMIN_API_PATH}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, json: (await response.json()) as Loose };
}

export interface AdminEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Loose;
}

/** The events of a stream until `close` is called or the stream ends. */
export async function* adminEvents(
  url: string,
  path: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): AsyncGenerator<AdminEvent> {
  const response = await fetch(`${url}${ADMIN_API_PATH}${path}`, { headers, signal });
  if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
  let text = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name: string): string | undefined =>
        lines.find(line => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field("data");
      if (data !== undefined)
        yield { id: field("id"), event: field("event") ?? "message", data: JSON.parse(data) as Loose };
    }
  }
}
