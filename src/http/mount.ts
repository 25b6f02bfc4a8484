import type { IncomingMessage, ServerResponse } from "node:http";
import type { Site } from "./base-url.ts";
import { HOLD_MS } from "./open-connections.ts";
import type { HttpRequest, HttpResponse } from "./request.ts";
import type { Kernel } from "./router.ts";
import { toExchange } from "./web.ts";

export interface MountParts {
  readonly kernel: Kernel;
  /** The path of the host below which we are; undefined: what Express says, else all of it. */
  readonly path: string | undefined;
}

/** Express tells what it has taken off the URL. */
type HostedRequest = IncomingMessage & { readonly baseUrl?: string };

/** Lets in the requests that a server of somebody else hands over. */
export function createMount({ kernel, path }: MountParts) {
  const open = new Set<HttpResponse>();

  function take(request: HttpRequest, response: HttpResponse, url: string, site: Site): void {
    // The host may have taken longer than its caller's patience.
    if (response.destroyed) return;
    open.add(response);
    response.once("close", () => open.delete(response));
    kernel.serve(request, response, url, site);
  }

  /** Some hosts take the path off the URL, others leave it there. */
  function toInner(url: string, taken: string): string {
    if (path === undefined) return url;
    const whole = taken + url;
    if (!whole.startsWith(path) || !/^(?:[/?]|$)/.test(whole.slice(path.length))) return url;
    const inner = whole.slice(path.length);
    return inner.startsWith("/") ? inner : `/${inner}`;
  }

  return {
    handler(request: HostedRequest, response: ServerResponse): void {
      const { url = "/", baseUrl = "" } = request;
      const isSecure = (request.socket as { readonly encrypted?: boolean }).encrypted === true;
      const site: Site = { scheme: isSecure ? "https" : "http", prefix: path ?? baseUrl };
      take(request, response, toInner(url, baseUrl), site);
    },
    async fetch(asked: Request): Promise<Response> {
      const { request, response, replied, url } = toExchange(asked);
      const scheme = url.protocol === "https:" ? "https" : "http";
      take(request, response, toInner(url.pathname + url.search, ""), { scheme, prefix: path ?? "" });
      return replied;
    },
    /** Calls come as long as the host hands them over; what must not begin any more is refused behind this door. */
    refuseNew(): void {},
    async close(): Promise<void> {
      kernel.close();
      const cut = setTimeout(() => {
        for (const response of open) response.destroy();
      }, HOLD_MS);
      const ends = [...open].map(response => new Promise<void>(resolve => response.once("close", resolve)));
      await Promise.all(ends);
      clearTimeout(cut);
    },
  };
}
export type Mount = ReturnType<typeof createMount>;
