import { createHandler } from "dragoman";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { type Host, hello } from "./_agent.ts";

export async function start(port: number): Promise<Host> {
  const app = fastify();
  const dragoman = await createHandler({ agents: [hello], data: ":memory:" }, { path: "/a2a" });
  // A scope of its own, without body parsers: the handler reads bodies itself.
  await app.register(async scope => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _body, done) => done(null));
    const pass = (request: FastifyRequest, reply: FastifyReply): void => {
      reply.hijack();
      dragoman.handler(request.raw, reply.raw);
    };
    scope.all("/a2a", pass);
    scope.all("/a2a/*", pass);
  });
  app.get("/", () => "an application of Fastify");
  app.addHook("preClose", dragoman.close);
  const address = await app.listen({ port, host: "127.0.0.1" });
  return { url: `${address}/a2a`, close: () => app.close() };
}

if (import.meta.main) process.stdout.write(`${(await start(3000)).url}\n`);
