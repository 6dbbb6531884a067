import { type IncomingMessage, request } from "node:http"
import { assert, it } from "@effect/vitest"
import { TakenWithin } from "@tocsin/adapter-http/features/export/ExportHandlers"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Duration, Effect, Layer, Schedule } from "effect"
import { call } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { acceptedAgent, event, push, type TestAgent } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"

const SPAN = "from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z"

interface Line {
  readonly [field: string]: unknown
  readonly cursor?: string
  readonly end?: true
  readonly event_id?: string
}

const exportOf = Effect.fnUntraced(function* (query: string) {
  const { readToken } = yield* Tocsin
  const answer = yield* call("GET", `/ops/v1/export?${query}`, { token: readToken })
  assert.strictEqual(answer.status, 200)
  assert.strictEqual(answer.headers["content-type"], "application/x-ndjson")
  assert.strictEqual(answer.headers["cache-control"], "no-store")
  return answer.text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line)
})

/** Results of a check that is now critical, now ok. */
const changes = (count: number, output = "") =>
  Array.from({ length: count }, (_, n) =>
    event({ output, ...(n % 2 === 0 && { status: "critical", exit_code: 2 }) }),
  )

const pushAll = (agent: TestAgent, count: number, output?: string) =>
  Effect.forEach(Array.from({ length: count / 200 }), () => push(agent, ...changes(200, output)))

/** Opens an export of all changes, and reads nothing of it. */
const openSlowly = Effect.fnUntraced(function* () {
  const { port, readToken: token } = yield* Tocsin
  return yield* Effect.callback<IncomingMessage>((resume) => {
    const headers = { authorization: `Bearer ${token}` }
    const path = `/ops/v1/export?kind=history&${SPAN}`
    const outgoing = request({ host: "127.0.0.1", port, path, headers, agent: false })
    outgoing.on("error", () => {})
    outgoing.on("response", (incoming) => resume(Effect.succeed(incoming.on("error", () => {}))))
    outgoing.end()
  })
})

const readAll = (incoming: IncomingMessage) =>
  Effect.callback<string>((resume) => {
    let text = ""
    incoming.on("close", () => resume(Effect.succeed(text)))
    incoming.setEncoding("utf8").on("data", (piece: string) => (text += piece))
  })

/** Exports over sockets (docs/rules.md#export). */
export const exportSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario, tocsin } = onStorage(subject)

  scenario("an export has each row as its list shows it, and ends with a cursor", () =>
    Effect.gen(function* () {
      const { readToken } = yield* Tocsin
      const agent = yield* acceptedAgent()
      yield* push(agent, ...changes(3))
      const lines = yield* exportOf(`kind=history&${SPAN}`)
      const { body } = yield* call("GET", "/api/v1/events/query", { token: readToken })
      const listed = (body as { readonly items: ReadonlyArray<unknown> }).items.toReversed()
      assert.deepStrictEqual(lines.slice(0, -1), listed)
      assert.deepInclude(lines.at(-1), { end: true })
      const cursor = lines.at(-1)?.cursor ?? ""
      assert.lengthOf(yield* exportOf(`kind=history&${SPAN}&cursor=${cursor}`), 1)
      yield* push(agent, event())
      assert.lengthOf(yield* exportOf(`kind=history&${SPAN}&cursor=${cursor}`), 2)
      const incidents = yield* exportOf(`kind=incidents&${SPAN}`)
      const shown = yield* call("GET", "/ops/v1/incidents", { token: readToken })
      const items = (shown.body as { readonly items: ReadonlyArray<Line> }).items
      assert.sameDeepMembers(incidents.slice(0, -1), items.slice())
      assert.deepInclude((yield* exportOf(`kind=numbers&${SPAN}`)).at(-1), { end: true })
    }),
  )

  scenario("what is no export is refused", () =>
    Effect.gen(function* () {
      const { readToken: token } = yield* Tocsin
      const agent = yield* acceptedAgent()
      const { cursor } = (yield* exportOf(`kind=incidents&${SPAN}`))[0] ?? {}
      for (const query of [
        SPAN,
        `kind=checks&${SPAN}`,
        "kind=history",
        "kind=history&from=now&to=2100-01-01T00:00:00Z",
        "kind=history&from=2021-01-01T00:00:00Z&to=2020-01-01T00:00:00Z",
        `kind=history&${SPAN}&cursor=x`,
        `kind=history&${SPAN}&cursor=${cursor}`,
      ])
        expectError(yield* call("GET", `/ops/v1/export?${query}`, { token }), 400, "validation")
      const ofAgent = yield* call("GET", `/ops/v1/export?kind=history&${SPAN}`, { token: agent.key })
      expectError(ofAgent, 401, "unauthorized")
    }),
  )

  it.live("two exports rest at a time, and a reader that takes nothing is cut", () =>
    Effect.gen(function* () {
      const { readToken: token } = yield* Tocsin
      const agent = yield* acceptedAgent()
      yield* pushAll(agent, 4_000, "x".repeat(4_000))
      const held = process.memoryUsage().arrayBuffers
      const [first, second] = [yield* openSlowly(), yield* openSlowly()]
      const refused = yield* call("GET", `/ops/v1/export?kind=history&${SPAN}`, { token })
      expectError(refused, 429, "rate_limited")
      // One of them was cut.
      yield* Effect.repeat(
        call("GET", `/ops/v1/export?kind=history&from=2099-01-01T00:00:00Z&to=2100-01-01T00:00:00Z`, {
          token,
        }),
        {
          until: ({ status }) => status === 200,
          schedule: Schedule.spaced("100 millis"),
        },
      )
      // Nobody has read the 16 MB of each.
      assert.isBelow(process.memoryUsage().arrayBuffers - held, 8_000_000)
      // Node.js sees the end of a connection only once it reads.
      const texts = yield* Effect.forEach([first, second], readAll, { concurrency: 2 })
      assert.isTrue(texts.some((text) => !text.includes('"end":true')))
      assert.lengthOf(yield* exportOf(`kind=incidents&${SPAN}`), 2_000 + 3)
    }).pipe(Effect.provide(tocsin().pipe(Layer.provide(Layer.succeed(TakenWithin, Duration.millis(500)))))),
  )
}
