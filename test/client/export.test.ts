import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { createClient } from "@tocsin/client/createClient"
import { isTocsinClientError } from "@tocsin/client/TocsinClientError"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { acceptedAgent, event, push } from "../http/client/TestAgent.ts"
import { Tocsin } from "../http/service/Tocsin.ts"

const span = { kind: "history", from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" } as const

const collect = async <A>(items: AsyncIterable<A>) => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}

const codeOf = async (items: AsyncIterable<unknown>) => {
  try {
    await collect(items)
  } catch (error) {
    return isTocsinClientError(error) ? error.code : error
  }
  return "none"
}

layer(Tocsin.layer(MemoryStorage.layer), { excludeTestServices: true })("export", (it) => {
  it.effect("gives rows and cursors, and fails with the reason where it is refused", () =>
    Effect.gen(function* () {
      const { port, readToken } = yield* Tocsin
      const agent = yield* acceptedAgent()
      yield* push(agent, event(), event({ status: "critical", exit_code: 2 }))
      const baseUrl = `http://127.0.0.1:${port}`
      const client = createClient({ baseUrl, token: readToken })
      yield* Effect.promise(async () => {
        const lines = await collect(client.export(span))
        assert.deepStrictEqual(
          lines.flatMap((line) => ("status" in line ? [line.status] : [])),
          ["ok", "critical"],
        )
        const last = lines.at(-1)
        assert.isTrue(last !== undefined && "cursor" in last && last.end)
        const cursor = last !== undefined && "cursor" in last ? last.cursor : ""
        assert.lengthOf(await collect(client.export({ ...span, cursor })), 1)
        assert.strictEqual(await codeOf(client.export({ ...span, cursor, kind: "numbers" })), "validation")
        assert.strictEqual(await codeOf(client.export({ ...span, from: "yesterday" })), "validation")
        const stranger = createClient({ baseUrl, token: "x".repeat(40) })
        assert.strictEqual(await codeOf(stranger.export(span)), "unauthorized")
        const cut = createClient({
          baseUrl,
          token: readToken,
          fetch: async (...request) => {
            const answer = await fetch(...request)
            const text = await answer.text()
            return new Response(text.slice(0, text.indexOf("\n") + 1), answer)
          },
        })
        assert.strictEqual(await codeOf(cut.export(span)), "connection")
      })
    }),
  )
})
