import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Option, type Tracer } from "effect"
import * as fc from "fast-check"
import { MAX_BODY_BYTES } from "../../src/request/RequestBody.ts"
import { REQUEST_ID } from "../TestServer.ts"
import { type RequestText, requestText } from "./requestTexts.ts"
import { TwoWays, type Way } from "./TwoWays.ts"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { testsFrom } from "@tocsin/testing/testsFrom"

const FINAL_STATUS = /HTTP\/1\.1 [2-5]/g
const answersIn = (received: string): number => received.match(FINAL_STATUS)?.length ?? 0

/**
 * Sends requests on a connection of its own, each when what came before is answered; resolves with
 * all that comes until the server closes it.
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

const withoutDate = (text: string): string => text.replaceAll(/\r\ndate: [^\r]*/g, "")

/** A line of the log, but for what differs each time. */
const logged = (line: string): unknown => {
  const { level, message, cause, annotations } = JSON.parse(line)
  const { duration_ms: _, ...rest } = annotations
  // The first line of a cause: the rest is where it came from.
  return { level, message, cause: String(cause).split("\n")[0], ...rest }
}

/** A server's log entries about the latest requests; concurrent ones are logged in any order. */
const takeLogs = (way: Way): ReadonlyArray<string> =>
  way.logs
    .splice(0)
    .map((line) => JSON.stringify(logged(line)))
    .toSorted()

/**
 * A connection that begins with an empty line goes to node:http, which ignores the line, and the
 * API.
 */
const BY_API = "\r\n"

/**
 * Sends the same requests to the API and to the fronts of both servers, in turn or together, and
 * asserts that answers and logs are equal.
 */
const compareAll = async (
  { untraced, traced }: TwoWays["Service"],
  requests: ReadonlyArray<RequestText>,
  inTurn = true,
): Promise<string> => {
  const about = requests.map((text) => text.slice(0, 1_000)).join("\n")
  const [head = "", ...rest] = inTurn ? requests : [requests.join("")]
  const expected = await exchange(untraced, [BY_API + head, ...rest])
  const logs = takeLogs(untraced)
  // Requests after an answer that ends the connection may be logged or not.
  const isLogKnown = inTurn || answersIn(expected) === requests.length
  for (const server of [untraced, traced]) {
    const received = await exchange(server, [head, ...rest])
    assert.strictEqual(withoutDate(received), withoutDate(expected), about)
    const seen = takeLogs(server)
    if (isLogKnown) assert.deepStrictEqual(seen, logs, about)
  }
  return expected
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

const page = (target: string, ...lines: ReadonlyArray<string>): RequestText =>
  [`${target} HTTP/1.1`, "Host: tocsin", ...lines, "", ""].join("\r\n")

/** A request after which the connection is closed. */
const LAST = usual("{}", "Connection: close")

layer(TwoWays.layer(), { excludeTestServices: true })("the front and the API answer alike", (it) => {
  const test = testsFrom(TwoWays, it.effect)

  test("when several arrive together", function* (ways) {
    const several = fc.tuple(fc.array(requestText("keep-alive"), { maxLength: 3 }), requestText("close"))
    yield* Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(several, async ([first, last]) => {
          await compareAll(ways, [...first, last], false)
        }),
        { numRuns: Math.max(60, propertyRuns(200)) },
      ),
    )
  })

  test("when they arrive one after the other", function* (ways) {
    const { taken } = ways.untraced
    const before = { ...taken, withTracer: ways.traced.taken.directly }
    const several = fc.tuple(
      fc.array(requestText("keep-alive"), { minLength: 1, maxLength: 3 }),
      requestText("close"),
    )
    yield* Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(several, async ([first, last]) => {
          await compare(ways, ...first, last)
        }),
        { numRuns: Math.max(80, propertyRuns(250)) },
      ),
    )
    // Otherwise the same code would have been compared with itself.
    assert.isAbove(taken.directly - before.directly, 10)
    assert.isAbove(taken.byApi - before.byApi, 30)
    assert.strictEqual(ways.traced.taken.directly - before.withTracer, taken.directly - before.directly)
  })

  test("for each outcome and each sender of a connection", function* (ways) {
    const before = ways.untraced.taken.directly
    const statuses = yield* Effect.forEach(
      ["web-01", "blocked", "limited", "superseded", "unavailable", "dying", "throwing", "slow"],
      (agentId) => Effect.promise(() => compare(ways, usual(heartbeat(agentId)), LAST)),
    )
    assert.deepStrictEqual(
      statuses.map((text) => text.slice(9, 12)),
      ["202", "403", "429", "409", "500", "500", "500", "202"],
    )
    assert.strictEqual(ways.untraced.taken.directly - before, statuses.length)
    const from = (key: string, address: string, ...processes: ReadonlyArray<string>) =>
      usual(heartbeat("conflicting")).replace(
        "agent-key",
        [`${key}\r\nX-Forwarded-For: ${address}`, ...processes].join("\r\nTocsin-Process: "),
      )
    const process = "0123456789abcdef"
    const texts = [
      from("one", "192.0.2.1", process),
      from("one", "192.0.2.1", process.toUpperCase()),
      from("one", "192.0.2.1", process, process),
      from("one", "192.0.2.1"),
      from("two", "192.0.2.1"),
      from("two", "192.0.2.2"),
      from("one", "192.0.2.1"),
      from("two", "192.0.2.1"),
    ]
    const answers = yield* Effect.promise(() => compare(ways, ...texts, LAST))
    assert.deepStrictEqual(answers.match(/192\.0\.2\.\d \w+ \w+/g), [
      `192.0.2.1 one ${process}`,
      "192.0.2.1 one none",
      "192.0.2.1 one none",
      "192.0.2.1 one none",
      "192.0.2.1 two none",
      "192.0.2.2 two none",
      "192.0.2.1 one none",
      "192.0.2.1 two none",
    ])
  })

  test("to readers of pages, which the API answers", function* (ways) {
    const { taken } = ways.untraced
    const before = taken.directly
    for (const name of ["usual", "large", "unread", "unknown"]) {
      const byApi = taken.byApi
      yield* Effect.promise(() => compare(ways, page(`GET /status/${name}`), LAST))
      assert.strictEqual(taken.byApi - byApi, 2, name)
    }
    assert.strictEqual(taken.directly, before)
  })

  test("to senders by the API, without spans because keys are in their paths", function* (ways) {
    const { spans, taken } = ways.traced
    const before = { ...taken, spans: spans.length }
    const ping = [`GET /in/ping/in_${"k".repeat(43)}/backup HTTP/1.1`, "Host: tocsin", "", ""].join("\r\n")
    yield* Effect.promise(() => compare(ways, ping, LAST))
    assert.strictEqual(taken.directly, before.directly)
    assert.isFalse(spans.slice(before.spans).some(({ name }) => name.includes("/in/")))
  })

  test("with spans of the same content", function* ({ traced }) {
    const { spans, taken } = traced
    const from = (agentId: string, host: string) =>
      usual(
        heartbeat(agentId),
        "User-Agent: agent/1",
        "X-Request-Id: mine",
        "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      ).replace("Host: tocsin", `Host: ${host}`)
    const texts = [
      usual(heartbeat()),
      from("web-01", "tocsin:8080"),
      from("blocked", "[::1]"),
      from("dying", ""),
    ]
    const content = ({ name, kind, status, parent, attributes }: Tracer.NativeSpan) => ({
      name,
      kind,
      parent: Option.getOrUndefined(parent)?.spanId,
      isOver: status._tag === "Ended",
      failure:
        status._tag === "Ended" &&
        Exit.isFailure(status.exit) &&
        Cause.pretty(status.exit.cause).split("\n")[0],
      attributes: Array.from(attributes).toSorted(([a], [b]) => a.localeCompare(b)),
    })
    for (const text of texts) {
      spans.splice(0)
      const before = { ...taken }
      yield* Effect.promise(() => exchange(traced, [BY_API + text, LAST]))
      yield* Effect.promise(() => exchange(traced, [text, LAST]))
      assert.deepStrictEqual(taken, { byApi: before.byApi + 1, directly: before.directly + 1 })
      takeLogs(traced)
      // Each connection ends with a second request.
      const [byApi, , directly] = spans
      assert.deepStrictEqual(directly && content(directly), byApi && content(byApi))
    }
  })

  test("for each size of a body", function* (ways) {
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
  })

  test("with the client's request id or the server's", function* (ways) {
    const given = yield* Effect.promise(() => compare(ways, usual("{", "X-Request-Id: mine"), LAST))
    assert.include(given, "x-request-id: mine")
    assert.include(given, '"request_id":"mine"')
    const made = yield* Effect.promise(() => compare(ways, usual("{", "X-Request-Id: m ine"), LAST))
    assert.include(made, `x-request-id: ${REQUEST_ID}`)
  })
})

layer(TwoWays.layer({ readiness: { isDraining: () => true } }), { excludeTestServices: true })(
  "a server that shuts down",
  (it) => {
    it.effect("closes connections of the front and of the API", () =>
      Effect.gen(function* () {
        const ways = yield* TwoWays
        for (const agentId of ["web-01", "blocked", "dying", "slow"]) {
          const answer = yield* Effect.promise(() => compare(ways, usual(heartbeat(agentId))))
          assert.match(answer, /\r\nconnection: close\r\n/)
        }
        for (const name of ["usual", "unread"]) {
          const answer = yield* Effect.promise(() => compare(ways, page(`GET /status/${name}`)))
          assert.match(answer, /\r\nconnection: close\r\n/)
        }
        assert.isAbove(ways.untraced.taken.directly, 3)
      }),
    )
  },
)
