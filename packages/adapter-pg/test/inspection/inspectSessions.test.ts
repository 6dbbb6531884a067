import { assert, layer } from "@effect/vitest"
import { startPostgres } from "@tocsin/test/postgres/startPostgres"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { AT_LENGTH, whyNotAtLength } from "@tocsin/test/properties/atLength"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { testsFrom } from "@tocsin/testing/testsFrom"
import { Effect, Redacted } from "effect"
import { connect, createServer, type Server } from "node:net"
import { connect as connectTo } from "../../src/Database.ts"
import { inspectSessions } from "../../src/inspection/inspectSessions.ts"

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

// In real time: a commit that does not end is waited for.
layer(ScratchPostgres.layer, { excludeTestServices: true })("sessions", (it) => {
  const test = testsFrom(ScratchPostgres, it.effect)
  test("are of one server without a balancer, and commit", function* ({ url }) {
    const plain = { servers: 1, isExchanged: false, commitWaitsFor: undefined }
    assert.deepStrictEqual(yield* inspectSessions({ url }), plain)
  })

  it.effect.skipIf(!AT_LENGTH)(
    `are of two servers behind one that balances, and a commit names what it waits for${skippedFor(whyNotAtLength)}`,
    () =>
      Effect.gen(function* () {
        const one = new URL(Redacted.value((yield* ScratchPostgres).url))
        const other = yield* Effect.acquireRelease(Effect.promise(startPostgres), ({ stop }) =>
          Effect.promise(stop),
        )
        // One address leads to both, with one password.
        const lost = Redacted.make(Object.assign(new URL(other.url), { password: one.password }).href)
        const first = yield* connectTo({ url: Redacted.make(other.url), maxConnections: 1 })
        yield* first.sql.unsafe(`ALTER ROLE CURRENT_USER PASSWORD '${decodeURIComponent(one.password)}'`)
        const front = yield* balancer([one, new URL(other.url)])
        const bound = front.address()
        const port = typeof bound === "object" ? String(bound?.port) : assert.fail()
        const url = Object.assign(new URL(one), { hostname: "127.0.0.1", port, pathname: "/postgres" }).href
        assert.strictEqual((yield* inspectSessions({ url: Redacted.make(url) })).servers, 2)
        const { sql } = yield* connectTo({ url: lost, maxConnections: 1 })
        yield* sql`ALTER SYSTEM SET synchronous_standby_names = 'lost'`
        yield* sql`SELECT pg_reload_conf()`
        assert.strictEqual((yield* inspectSessions({ url: lost })).commitWaitsFor, "SyncRep")
        // The wait was ended, too.
        assert.deepStrictEqual(yield* sql`SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`, [])
      }),
  )
})
