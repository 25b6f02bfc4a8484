import type { IncomingMessage, ServerResponse } from "node:http";
import type { MountPoint } from "./base-url.ts";
import type { HttpRequest, HttpResponse } from "./request.ts";
import type { Router } from "./router.ts";
import { CLOSE_GRACE_MS } from "./sockets.ts";
import { toWebExchange } from "./web.ts";

export interface MountParts {
  readonly router: Router;
  /** The path of the host application at which Dragoman is mounted; undefined: Express tells it, else there is none. */
  readonly path: string | undefined;
}

/** Express removes the path of its router from the URL and puts it here. */
type HostedRequest = IncomingMessage & { readonly baseUrl?: string };

/** Serves requests that the HTTP server of another program passes on. */
export function createMount({ router, path }: MountParts) {
  const open = new Set<HttpResponse>();

  function serve(request: HttpRequest, response: HttpResponse, url: string, mount: MountPoint): void {
    // The client may have disconnected while the host was busy.
    if (response.destroyed) return;
    open.add(response);
    response.once("close", () => open.delete(response));
    router.serve(request, response, url, mount);
  }

  /** The URL below `path`: some hosts have removed the path already (then it is in `removed`), others have not. */
  function toInner(url: string, removed: string): string {
    if (path === undefined) return url;
    const whole = removed + url;
    if (!whole.startsWith(path) || !/^(?:[/?]|$)/.test(whole.slice(path.length))) return url;
    const inner = whole.slice(path.length);
    return inner.startsWith("/") ? inner : `/${inner}`;
  }

  return {
    handler(request: HostedRequest, response: ServerResponse): void {
      const { url = "/", baseUrl = "" } = request;
      const isSecure = (request.socket as { readonly encrypted?: boolean }).encrypted === true;
      const scheme = isSecure ? "https" : "http";
      serve(request, response, toInner(url, baseUrl), { scheme, prefix: path ?? baseUrl });
    },
    async fetch(input: Request): Promise<Response> {
      const { request, response, responded, url } = toWebExchange(input);
      const scheme = url.protocol === "https:" ? "https" : "http";
      serve(request, response, toInner(url.pathname + url.search, ""), { scheme, prefix: path ?? "" });
      return responded;
    },
    /** The host still passes requests on; operations are refused behind the router. */
    refuseNew(): void {},
    async close(): Promise<void> {
      router.close();
      const timer = setTimeout(() => {
        for (const response of open) response.destroy();
      }, CLOSE_GRACE_MS);
      const closed = [...open].map(response => new Promise<void>(resolve => response.once("close", resolve)));
      await Promise.all(closed);
      clearTimeout(timer);
    },
  };
}
export type Mount = ReturnType<typeof createMount>;
