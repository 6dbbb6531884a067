import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { MAX_BODY_BYTES } from "../../src/request/RequestBody.ts"
import { REQUEST_ID } from "../TestServer.ts"
import { type RequestText, requestText } from "./requestTexts.ts"
import { TwoWays, type Way } from "./TwoWays.ts"

/** Sends bytes on a connection of its own; resolves with all that comes until the server closes it. */
const exchange = ({ port }: Way, bytes: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes, "latin1"))
    let received = ""
    socket.on("data", (part: Buffer) => {
      received += part.toString("latin1")
    })
    socket.on("error", () => {})
    socket.on("close", () => resolve(received))
  })

const withoutDate = (text: string): string => text.replaceAll(/\r\nDate: [^\r]*/g, "")

/** A line of the log, but for what differs each time. */
const logged = (line: string): unknown => {
  const { level, message, cause, annotations } = JSON.parse(line)
  const { duration_ms: _, ...rest } = annotations
  // The first line of a cause: the rest is where it came from.
  return { level, message, cause: String(cause).split("\n")[0], ...rest }
}

/** Sends the same both ways, and asserts that all that is seen of it is the same. */
const compare = async (ways: TwoWays["Service"], text: RequestText): Promise<string> => {
  for (const way of Object.values(ways)) way.logs.length = 0
  const [direct, byApi] = await Promise.all([exchange(ways.direct, text), exchange(ways.byApi, text)])
  assert.strictEqual(withoutDate(direct), withoutDate(byApi), text.slice(0, 1_000))
  assert.deepStrictEqual(ways.direct.logs.map(logged), ways.byApi.logs.map(logged), text.slice(0, 1_000))
  return direct
}

const request = (lines: ReadonlyArray<string>, body = ""): RequestText =>
  [
    "POST /api/v1/heartbeat HTTP/1.1",
    "Host: tocsin",
    "Authorization: Bearer agent-key",
    ...lines,
    "",
    body,
  ].join("\r\n")

const heartbeat = (agentId = "web-01"): string =>
  JSON.stringify({
    agent_id: agentId,
    observed_at: "2026-01-31T08:30:00Z",
    hostname: "h",
    features: { push: true, metrics: true },
  })

const usual = (body: string, ...lines: ReadonlyArray<string>): RequestText =>
  request([...lines, `Content-Length: ${body.length}`], body)

layer(TwoWays.layer(), { excludeTestServices: true })("a request is answered the same either way", (it) => {
  it.effect("whatever it is", () =>
    Effect.gen(function* () {
      const ways = yield* TwoWays
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(requestText("close"), async (text) => {
            await compare(ways, text)
          }),
          { numRuns: 800 },
        ),
      )
      assert.strictEqual(ways.byApi.taken.directly, 0)
      // Or all that was compared was the same code.
      assert.isAbove(ways.direct.taken.directly, 80)
      assert.isAbove(ways.direct.taken.byApi, 10)
    }),
  )

  it.effect("one after the other on a connection, and all at once", () =>
    Effect.gen(function* () {
      const ways = yield* TwoWays
      const several = fc.tuple(fc.array(requestText("keep-alive"), { maxLength: 3 }), requestText("close"))
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(several, async ([first, last]) => {
            await compare(ways, [...first, last].join(""))
          }),
          { numRuns: 300 },
        ),
      )
    }),
  )

  it.effect("of each outcome, and for each sender of a connection", () =>
    Effect.gen(function* () {
      const ways = yield* TwoWays
      const before = ways.direct.taken.directly
      const statuses = yield* Effect.forEach(
        ["web-01", "blocked", "limited", "superseded", "unavailable", "dying", "throwing", "slow"],
        (agentId) => Effect.promise(() => compare(ways, usual(heartbeat(agentId), "Connection: close"))),
      )
      assert.deepStrictEqual(
        statuses.map((text) => text.slice(9, 12)),
        ["202", "403", "429", "409", "500", "500", "500", "202"],
      )
      assert.strictEqual(ways.direct.taken.directly - before, statuses.length)
      const from = (key: string, address: string) =>
        usual(heartbeat("conflicting")).replace("agent-key", `${key}\r\nX-Forwarded-For: ${address}`)
      const text = [from("one", "192.0.2.1"), from("two", "192.0.2.1"), from("two", "192.0.2.2")].join("")
      const answers = yield* Effect.promise(() => compare(ways, text + usual("{}", "Connection: close")))
      assert.deepStrictEqual(answers.match(/192\.0\.2\.\d \w+/g), [
        "192.0.2.1 one",
        "192.0.2.1 two",
        "192.0.2.2 two",
      ])
    }),
  )

  it.effect("of each size", () =>
    Effect.gen(function* () {
      const ways = yield* TwoWays
      const close = "Connection: close"
      for (const size of [0, 1, 70_000, MAX_BODY_BYTES, MAX_BODY_BYTES + 1]) {
        const body = heartbeat().padEnd(size, " ").slice(0, size)
        yield* Effect.promise(() => compare(ways, usual(body, close)))
        const chunk = `${body.length.toString(16)}\r\n${body}\r\n`
        const chunks = `${size === 0 ? "" : chunk}0\r\n\r\n`
        yield* Effect.promise(() => compare(ways, request([close, "Transfer-Encoding: chunked"], chunks)))
      }
      yield* Effect.promise(() =>
        compare(ways, request([close, "Content-Length: 00000000000000000000002"], "{}")),
      )
      yield* Effect.promise(() => compare(ways, request([close, "Content-Length: 99999999999999999999999"])))
      yield* Effect.promise(() => compare(ways, request([close, "Content-Length: +2"], "{}")))
      yield* Effect.promise(() => compare(ways, request([close, "Content-Length: "], "{}")))
    }),
  )

  it.effect("where its id is the client's or the server's", () =>
    Effect.gen(function* () {
      const ways = yield* TwoWays
      const given = yield* Effect.promise(() =>
        compare(ways, usual("{", "Connection: close", "X-Request-Id: mine")),
      )
      assert.include(given, "x-request-id: mine")
      assert.include(given, '"request_id":"mine"')
      const made = yield* Effect.promise(() =>
        compare(ways, usual("{", "Connection: close", "X-Request-Id: m ine")),
      )
      assert.include(made, `x-request-id: ${REQUEST_ID}`)
    }),
  )
})

layer(TwoWays.layer({ readiness: { isDraining: () => true } }), { excludeTestServices: true })(
  "a server that is about to stop",
  (it) => {
    it.effect("closes connections either way", () =>
      Effect.gen(function* () {
        const ways = yield* TwoWays
        for (const agentId of ["web-01", "blocked", "dying", "slow"]) {
          const answer = yield* Effect.promise(() => compare(ways, usual(heartbeat(agentId))))
          assert.match(answer, /\r\nconnection: close\r\n/)
        }
        assert.isAbove(ways.direct.taken.directly, 0)
      }),
    )
  },
)
