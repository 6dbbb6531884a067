import { assert, layer } from "@effect/vitest"
import { startPostgres } from "@tocsin/test/postgres/startPostgres"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { AT_LENGTH, whyNotAtLength } from "@tocsin/test/properties/atLength"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { testsFrom } from "@tocsin/testing/testsFrom"
import { Effect, Redacted } from "effect"
import { connect, createServer, type Server } from "node:net"
import { countServers } from "../../src/inspection/inspectStorage.ts"

/** A balancer that gives each connection the next server. */
const balancer = (servers: ReadonlyArray<URL>) =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      let next = 0
      const front = createServer((socket) => {
        const to = servers[next++ % servers.length] ?? assert.fail()
        const server = connect(Number(to.port), to.hostname)
        for (const one of [socket, server])
          one.on("error", () => [socket, server].forEach((end) => end.destroy()))
        socket.pipe(server).pipe(socket)
      })
      front.listen(0, "127.0.0.1", () => resume(Effect.succeed(front)))
    }),
    (front) => Effect.sync(() => front.close()),
  )

layer(ScratchPostgres.layer)("the servers that answer", (it) => {
  const test = testsFrom(ScratchPostgres, it.effect)
  test("are one without a balancer", function* ({ url }) {
    assert.strictEqual(yield* countServers({ url }), 1)
  })

  it.effect.skipIf(!AT_LENGTH)(`are two behind one that balances${skippedFor(whyNotAtLength)}`, () =>
    Effect.gen(function* () {
      const one = new URL(Redacted.value((yield* ScratchPostgres).url))
      const other = yield* Effect.acquireRelease(Effect.promise(startPostgres), ({ stop }) =>
        Effect.promise(stop),
      )
      const front = yield* balancer([one, new URL(other.url)])
      const bound = front.address()
      const port = typeof bound === "object" ? String(bound?.port) : assert.fail()
      const url = Object.assign(new URL(one), { hostname: "127.0.0.1", port, pathname: "/postgres" }).href
      assert.strictEqual(yield* countServers({ url: Redacted.make(url) }), 2)
    }),
  )
})
