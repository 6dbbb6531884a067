import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { MAX_BODY_BYTES } from "../../src/request/RequestBody.ts"
import { REQUEST_ID } from "../TestServer.ts"
import { type RequestText, requestText } from "./requestTexts.ts"
import { TwoWays, type Way } from "./TwoWays.ts"

const FINAL_STATUS = /HTTP\/1\.1 [2-5]/g
const answersIn = (received: string): number => received.match(FINAL_STATUS)?.length ?? 0

/**
 * Sends requests on a connection of its own, each when what came before is answered; resolves with all that comes until the
 * server closes it.
 */
const exchange = ({ port }: Way, requests: ReadonlyArray<string>): Promise<string> =>
  new Promise((resolve) => {
    let received = ""
    let sent = 0
    const send = () => {
      const request = requests[sent]
      if (request === undefined || answersIn(received) < sent) return
      if (/\r\nconnection: close\r\n/i.test(received)) return
      sent += 1
      socket.write(request, "latin1")
    }
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, send)
    socket.on("data", (part: Buffer) => {
      received += part.toString("latin1")
      send()
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

/** What a server's log tells of what was sent to it since; what is under way at once is logged in any order. */
const takeLogs = (way: Way): ReadonlyArray<string> =>
  way.logs
    .splice(0)
    .map((line) => JSON.stringify(logged(line)))
    .toSorted()

/** A connection that begins with an empty line is none that is usual: it goes to node:http, which ignores the line. */
const BY_NODE = "\r\n"

/** Sends the same requests all ways, in turn or at once, and asserts that all that is seen of them is the same. */
const compareAll = async (
  { direct, byApi }: TwoWays["Service"],
  requests: ReadonlyArray<RequestText>,
  inTurn = true,
): Promise<string> => {
  const about = requests.map((text) => text.slice(0, 1_000)).join("\n")
  const [head = "", ...rest] = inTurn ? requests : [requests.join("")]
  const expected = await exchange(byApi, [head, ...rest])
  const logs = takeLogs(byApi)
  // What comes after an answer that ends the connection may be seen or not.
  const isLogKnown = inTurn || answersIn(expected) === requests.length
  const assertSame = (received: string): void => {
    assert.strictEqual(withoutDate(received), withoutDate(expected), about)
    const seen = takeLogs(direct)
    if (isLogKnown) assert.deepStrictEqual(seen, logs, about)
  }
  const received = await exchange(direct, [head, ...rest])
  assertSame(received)
  assertSame(await exchange(direct, [BY_NODE + head, ...rest]))
  return received
}

const compare = (ways: TwoWays["Service"], ...requests: ReadonlyArray<RequestText>): Promise<string> =>
  compareAll(ways, requests)

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

/** A request after which the connection is closed. */
const LAST = usual("{}", "Connection: close")

layer(TwoWays.layer(), { excludeTestServices: true })("a request is answered the same either way", (it) => {
  it.effect("whatever it is", () =>
    Effect.gen(function* () {
      const ways = yield* TwoWays
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(requestText("close"), async (text) => {
            await compare(ways, text)
          }),
          { numRuns: 500 },
        ),
      )
      assert.strictEqual(ways.byApi.taken.directly, 0)
      // Or all that was compared was the same code.
      assert.isAbove(ways.direct.taken.directly, 100)
      assert.isAbove(ways.direct.taken.byApi, 14)
    }),
  )

  it.effect("one after the other on a connection, and all at once", () =>
    Effect.gen(function* () {
      const ways = yield* TwoWays
      const several = fc.tuple(fc.array(requestText("keep-alive"), { maxLength: 3 }), requestText("close"))
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(several, async ([first, last]) => {
            await compareAll(ways, [...first, last], false)
          }),
          { numRuns: 200 },
        ),
      )
    }),
  )

  it.effect("one after the other is answered, and before node:http parses it", () =>
    Effect.gen(function* () {
      const ways = yield* TwoWays
      const several = fc.tuple(fc.array(requestText("keep-alive"), { maxLength: 3 }), requestText("close"))
      const parsedBefore = ways.direct.parsed()
      const takenBefore = ways.direct.taken.directly
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(several, async ([first, last]) => {
            await compare(ways, ...first, last)
          }),
          { numRuns: 200 },
        ),
      )
      const parsed = ways.direct.parsed() - parsedBefore
      assert.isAbove(ways.direct.taken.directly - takenBefore, parsed / 10)
    }),
  )

  it.effect("of each outcome, and for each sender of a connection", () =>
    Effect.gen(function* () {
      const ways = yield* TwoWays
      const before = ways.direct.taken.directly
      const statuses = yield* Effect.forEach(
        ["web-01", "blocked", "limited", "superseded", "unavailable", "dying", "throwing", "slow"],
        (agentId) => Effect.promise(() => compare(ways, usual(heartbeat(agentId)), LAST)),
      )
      assert.deepStrictEqual(
        statuses.map((text) => text.slice(9, 12)),
        ["202", "403", "429", "409", "500", "500", "500", "202"],
      )
      assert.strictEqual(ways.direct.taken.directly - before, 2 * statuses.length)
      const from = (key: string, address: string) =>
        usual(heartbeat("conflicting")).replace("agent-key", `${key}\r\nX-Forwarded-For: ${address}`)
      const texts = [from("one", "192.0.2.1"), from("two", "192.0.2.1"), from("two", "192.0.2.2")]
      const answers = yield* Effect.promise(() => compare(ways, ...texts, LAST))
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
      const given = yield* Effect.promise(() => compare(ways, usual("{", "X-Request-Id: mine"), LAST))
      assert.include(given, "x-request-id: mine")
      assert.include(given, '"request_id":"mine"')
      const made = yield* Effect.promise(() => compare(ways, usual("{", "X-Request-Id: m ine"), LAST))
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
