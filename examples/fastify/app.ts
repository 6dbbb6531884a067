// Fastify: the monitor reads bodies itself, so Fastify's own parsers are switched off for its routes.
import Fastify, { type FastifyInstance } from "fastify"
import type { Monitor } from "tocsin"

/** An app with `monitor`, made with `basePath: "/monitoring"`, under that prefix. */
export const makeApp = (monitor: Monitor): FastifyInstance => {
  const app = Fastify()
  app.get("/", () => "hello")
  app.register(async (routes) => {
    routes.removeAllContentTypeParsers()
    routes.addContentTypeParser("*", (_request, _payload, done) => done(null))
    routes.all("/monitoring/*", (request, reply) => {
      reply.hijack()
      monitor.node(request.raw, reply.raw)
    })
  })
  // Before Fastify waits for open requests: live views end with the monitor.
  app.addHook("preClose", () => monitor.close())
  return app
}
