/** Programs that mount our agents beside other routes, one for each framework. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve as serveHono } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import type { MountedServer } from "../../src/index.ts";

export interface Host {
  readonly url: string;
  close(): Promise<void>;
}

/** The path of our agents in all of them; another route answers at /other. */
export const PATH = "/a2a-server";

export type OpenHost = (mounted: MountedServer) => Promise<Host>;

async function listen(server: Server): Promise<Host> {
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

export const onNode: OpenHost = ({ handler }) => listen(createServer(handler));

export const onExpress: OpenHost = ({ handler }) => {
  const app = express();
  app.use(PATH, handler);
  app.get("/other", (_request, response) => void response.send("other"));
  return listen(createServer(app));
};

/** With a body parser in front of the handler. */
export const onParsingExpress: OpenHost = ({ handler }) => {
  const app = express();
  app.use(express.json());
  app.use(PATH, handler);
  return listen(createServer(app));
};

/** In a nested router, which passes a part of the path to the handler. */
export const onNestedExpress: OpenHost = ({ handler }) => {
  const router = express.Router();
  router.all("/a2a{/*rest}", handler);
  const app = express();
  app.use("/api", router);
  return listen(createServer(app));
};

/** Its `close` waits for open streams, so ours must be closed first. */
export const onFastify: OpenHost = async ({ handler, close }) => {
  const app = fastify();
  await app.register(async scope => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _body, done) => done(null));
    scope.all(`${PATH}/*`, (request, reply) => {
      reply.hijack();
      handler(request.raw, reply.raw);
    });
  });
  app.addHook("preClose", close);
  app.get("/other", () => "other");
  return { url: await app.listen({ port: 0, host: "127.0.0.1" }), close: () => app.close() };
};

/** Without the configuration that keeps Fastify from reading bodies. */
export const onParsingFastify: OpenHost = async ({ handler }) => {
  const app = fastify();
  app.all(`${PATH}/*`, (request, reply) => {
    reply.hijack();
    handler(request.raw, reply.raw);
  });
  await app.ready();
  return listen(app.server);
};

const toHono = (app: Hono): Promise<Host> =>
  new Promise(resolve => {
    const server = serveHono({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
      resolve({
        url: `http://127.0.0.1:${port}`,
        async close() {
          const closed = new Promise(done => server.close(done));
          (server as Server).closeAllConnections();
          await closed;
        },
      }),
    );
  });

/** Strips the path from the URL. */
export const onHono: OpenHost = ({ fetch }) =>
  toHono(new Hono().mount(PATH, fetch).get("/other", c => c.text("other")));

/** Keeps the path in the URL. */
export const onRoutingHono: OpenHost = ({ fetch }) =>
  toHono(new Hono().all(`${PATH}/*`, c => fetch(c.req.raw)).get("/other", c => c.text("other")));
