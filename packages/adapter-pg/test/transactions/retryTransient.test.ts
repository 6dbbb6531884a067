import { connect, createServer } from "node:net"
import { assert, layer } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { throughLoopback } from "@tocsin/test/postgres/throughLoopback"
import { Effect, Redacted } from "effect"
import { openStorage } from "../openStorage.ts"

/** A way to a database that can be closed: then each connection is counted and ended at once. */
const gate = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const target = new URL(Redacted.value(url))
  const open = new Set<() => void>()
  let isClosed = false
  let refused = 0
  const server = createServer((client) => {
    if (isClosed) {
      refused += 1
      client.destroy()
      return
    }
    const upstream = connect(Number(target.port || "5432"), target.hostname)
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    open.add(end)
    client.pipe(upstream).pipe(client)
    for (const socket of [client, upstream]) socket.on("error", end).on("close", () => open.delete(end))
  })
  const endAll = Effect.sync(() => {
    for (const end of Array.from(open)) end()
  })
  return {
    url: yield* throughLoopback(server, target, endAll),
    close: Effect.andThen(
      Effect.sync(() => {
        isClosed = true
      }),
      endAll,
    ),
    /** How many connections were refused since the last call. */
    refused: Effect.sync(() => {
      const count = refused
      refused = 0
      return count
    }),
  }
})

layer(ScratchPostgres.layerMigrated)("a database that refuses connections", (it) => {
  it.effect("is tried once for a read", () =>
    Effect.gen(function* () {
      const { url } = yield* ScratchPostgres
      const way = yield* gate(url)
      const storage = yield* openStorage({ url: way.url })
      const read = storage.agent(AgentId.make("nobody"))
      yield* read
      yield* way.close
      // Connections that were idle are found out to be gone.
      yield* Effect.flip(read)
      yield* way.refused
      for (const name of ["first", "second", "third"]) {
        assert.strictEqual((yield* Effect.flip(read)).reason, "unavailable", name)
        assert.strictEqual(yield* way.refused, 1, name)
      }
    }),
  )
})
