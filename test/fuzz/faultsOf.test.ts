import { assert, describe, it } from "@effect/vitest"
import { UI_TOKEN } from "../openapi/DocumentedServer.ts"
import type { Exchanged } from "./exchange.ts"
import { differ, faultsOf } from "./faultsOf.ts"
import { withoutStraySecrets } from "./Input.ts"

const KEY = "the-key-of-an-integration"

const exchanged = (text: string, changes: Partial<Exchanged> = {}): Exchanged => ({
  text,
  isEndedByServer: true,
  wasReset: false,
  isRefused: false,
  hangs: false,
  ...changes,
})

const answer = (status: string, body = '{"accepted":true}', fields = "X-Request-Id: one\r\n"): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`

const faults = (received: Exchanged) =>
  faultsOf({ writes: [] }, received, { judges: [], keys: new Map([["a", KEY]]) })

describe("the fuzzer", () => {
  it("has nothing against answers in a row, and a refusal without a body", () => {
    assert.deepStrictEqual(faults(exchanged(answer("202 Accepted").repeat(2) + answer("400 Bad", ""))), [])
  })

  it.each<[name: string, received: Exchanged]>([
    ["a failure", exchanged(answer("500 Internal Server Error"))],
    ["a stopped server", exchanged("", { isRefused: true })],
    ["a connection that hangs", exchanged("", { hangs: true })],
    ["bytes that are no answer", exchanged(`${answer("202 Accepted")}{`)],
    ["a broken chunk", exchanged("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n")],
    ["no request id", exchanged(answer("202 Accepted", "{}", ""))],
    ["a repeated field", exchanged(answer("202 Accepted", "{}", "X-Request-Id: a\r\nA: 1\r\nA: 2\r\n"))],
    ["an error of another form", exchanged(answer("400 Bad Request", '{"error":"bad"}'))],
    ["the key of an integration in an answer", exchanged(answer("202 Accepted", `"${KEY}"`))],
    ["a token in an answer", exchanged(answer("202 Accepted", `"${UI_TOKEN}"`))],
  ])("finds %s", (_, received) => {
    assert.isNotEmpty(faults(received))
  })

  it("finds a difference, but for ids and times, limits, and what a reset loses", () => {
    const one = exchanged(answer("202 Accepted", '{"accepted":1}', "Date: now\r\n"))
    const later = exchanged(answer("202 Accepted", '{"accepted":1}', "Date: then\r\n"))
    const other = exchanged(answer("202 Accepted", '{"accepted":2}'))
    assert.isTrue(differ(one, other))
    assert.isFalse(differ(one, later))
    assert.isFalse(differ(one, exchanged(answer("429 Too Many Requests"))))
    const unknown = answer("404 Not Found")
    assert.isTrue(differ(exchanged(unknown), one))
    assert.isFalse(
      differ(exchanged(unknown), exchanged(answer("404 Not Found", "{}", "Connection: close\r\n"))),
    )
    assert.isFalse(differ(one, { ...other, wasReset: true }))
  })

  it("leaves a token only in its header field", () => {
    const field = `GET / HTTP/1.1\r\nAuthorization: Bearer ${UI_TOKEN}\r\n`
    assert.strictEqual(withoutStraySecrets(field), field)
    assert.notInclude(withoutStraySecrets(`GET /${UI_TOKEN} HTTP/1.1\r\nX: Bearer ${UI_TOKEN}`), UI_TOKEN)
    const ping = `POST /in/ping/a/b HTTP/1.1\r\nContent-Length: 99\r\n\r\n`
    assert.strictEqual(
      withoutStraySecrets(field + ping + field),
      field + ping + field.replace(UI_TOKEN, UI_TOKEN.toUpperCase()),
    )
  })
})
