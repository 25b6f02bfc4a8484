/** An OAuth 2 provider on this machine, and a browser for it. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { OAuthProvider } from "../../src/model/index.ts";

export interface FakeProvider {
  readonly url: string;
  readonly config: OAuthProvider;
  /** The parameters of each authorization request. */
  readonly visits: URLSearchParams[];
  /** The requests to the token endpoint. */
  readonly requests: { readonly form: URLSearchParams; readonly authorization: string | undefined }[];
  /** Its behaviour from now on. */
  behaviour: "kind" | "declines" | "fails" | "refuses";
  /** The lifetime of access tokens, in seconds. */
  expiresIn: number | undefined;
  close(): Promise<void>;
}

export async function startProvider(more: Partial<OAuthProvider> = {}): Promise<FakeProvider> {
  const codes = new Map<string, { challenge: string; redirectUri: string }>();
  let issued = 0;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://provider");
    if (url.pathname === "/authorize") {
      provider.visits.push(url.searchParams);
      const back = new URL(url.searchParams.get("redirect_uri") ?? "");
      back.searchParams.set("state", url.searchParams.get("state") ?? "");
      if (provider.behaviour === "declines") back.searchParams.set("error", "access_denied");
      else {
        const code = `code-${++issued}-secret`;
        const challenge = url.searchParams.get("code_challenge") ?? "";
        codes.set(code, { challenge, redirectUri: url.searchParams.get("redirect_uri") ?? "" });
        back.searchParams.set("code", code);
      }
      return void response.writeHead(302, { Location: back.href }).end();
    }
    const form = new URLSearchParams(await textOf(request));
    provider.requests.push({ form, authorization: request.headers.authorization });
    const [status, body] = answer(form);
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  });

  function answer(form: URLSearchParams): [status: number, body: object] {
    if (provider.behaviour === "fails") return [500, { oops: "the password is hunter2" }];
    if (provider.behaviour === "refuses")
      return [400, { error: "invalid_grant", error_description: "hunter2" }];
    if (form.get("grant_type") === "authorization_code") {
      const code = codes.get(form.get("code") ?? "");
      codes.delete(form.get("code") ?? "");
      const proof = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      if (!code || code.challenge !== proof || code.redirectUri !== form.get("redirect_uri"))
        return [400, { error: "invalid_grant" }];
    }
    issued += 1;
    return [
      200,
      {
        access_token: `access-${issued}-secret`,
        token_type: "Bearer",
        refresh_token: `refresh-${issued}-secret`,
        scope: "repo read:user",
        ...(provider.expiresIn !== undefined && { expires_in: provider.expiresIn }),
      },
    ];
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: FakeProvider = {
    url,
    config: {
      authorizationUrl: `${url}/authorize?audience=api`,
      tokenUrl: `${url}/token`,
      clientId: "dragoman",
      clientSecret: "client-secret-hunter2",
      scopes: ["read:user"],
      ...more,
    },
    visits: [],
    requests: [],
    behaviour: "kind",
    expiresIn: 3_600,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  return provider;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

const HOPS_MAX = 5;

/** Follows redirects, and stores cookies like a browser for one host. */
export class Browser {
  readonly cookies = new Map<string, string>();
  /** Every URL that it opened. */
  readonly seen: string[] = [];

  async open(url: string): Promise<{ readonly status: number; readonly text: string; readonly url: string }> {
    let at = url;
    for (let hops = 0; hops < HOPS_MAX; hops++) {
      this.seen.push(at);
      const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const response = await fetch(at, { redirect: "manual", headers: cookie ? { cookie } : {} });
      for (const one of response.headers.getSetCookie()) {
        const [name = "", value = ""] = (one.split(";")[0] as string).split("=");
        this.cookies.set(name, value);
      }
      const next = response.headers.get("location");
      if (next === null) return { status: response.status, text: await response.text(), url: at };
      at = new URL(next, at).href;
    }
    throw new Error("too many redirects");
  }
}
