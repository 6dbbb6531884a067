import * as fc from "fast-check"
import { PAGES, SPECIAL } from "./TwoWays.ts"

/** The bytes of a request as they are sent, in latin1. */
export type RequestText = string

const agentId = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom("web-01", ...SPECIAL) },
  { weight: 1, arbitrary: fc.constantFrom("", "not a name", "x".repeat(129)) },
)

const rarely = <A>(usual: A, ...odd: ReadonlyArray<A>) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(usual, ...odd) },
  )

const heartbeat = fc.record(
  {
    agent_id: agentId,
    observed_at: rarely("2026-01-31T08:30:00Z", "2026-01-31", "2026-01-31T08:30:00+02:00"),
    hostname: rarely("größer ✓", "", "a\0b"),
    features: rarely<object>({ push: true, metrics: false }, { push: 1 }, {}),
    labels: rarely<object>({ os: "linux" }, { "db.password": "p" }, { a: 1 }, { ü: "u" }),
    colour: rarely(undefined, "red"),
  },
  { requiredKeys: ["agent_id", "observed_at", "hostname", "features"] },
)

const event = fc.record(
  {
    event_id: rarely("01890a5d-ac96-774b-bcce-b302099a8057", "01890A5D-AC96-774B-BCCE-B302099A8057"),
    check_id: rarely("disk", "a disk"),
    observed_at: rarely("2026-01-31T08:30:00.123456Z", "never"),
    status: rarely("ok", "fine"),
    exit_code: rarely<unknown>(0, 1.5, "0"),
    duration_ms: rarely<unknown>(3, -1, null),
    output: rarely("all is well ✓", "a\0\ud800", "ä".repeat(4_097)),
    incident_key: rarely("disks", ""),
  },
  { requiredKeys: ["event_id", "check_id", "observed_at", "status", "exit_code", "duration_ms"] },
)

const batch = fc.record({
  agent_id: agentId,
  events: fc.oneof(
    { weight: 20, arbitrary: fc.array(event, { minLength: 1, maxLength: 2 }) },
    { weight: 1, arbitrary: fc.constant([]) },
  ),
})

const latin1 = (text: string): string => Buffer.from(text).toString("latin1")

const bodyOf = (json: fc.Arbitrary<object>) =>
  fc.oneof(
    { weight: 20, arbitrary: json.map((value) => latin1(JSON.stringify(value))) },
    { weight: 1, arbitrary: fc.json().map(latin1) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "{", "\xff\xfe", '"\xed\xa0\x80"', `\xef\xbb\xbf{}`, "[".repeat(50_000)),
    },
  )

const ODD_TARGETS = [
  "/api/v1/heartbeat?x=1", "/api/v1/heartbeat/", "/api/v1//events", "/API/v1/events", "/api/v1/heartbeat;x",
  "/api/v1/heart%62eat", "http://other/api/v1/heartbeat", "/api/v1/events#x", "/api/v1/nowhere", "*",
] // oxfmt-ignore

/** A target, and a body that mostly belongs there. */
const aim = fc.oneof(
  fc.tuple(rarely("/api/v1/heartbeat", ...ODD_TARGETS), bodyOf(heartbeat)),
  fc.tuple(rarely("/api/v1/events", "/api/v1/heartbeat"), bodyOf(batch)),
)

const line = fc.record({
  method: rarely("POST", "GET", "PUT", "HEAD", "OPTIONS", "post"),
  version: rarely("1.1", "1.0"),
})

const header = (name: string, ...values: ReadonlyArray<string>) =>
  fc.constantFrom("", ...values.map((value) => `${name}: ${value}\r\n`))

/** Headers that may be there, each mostly not. */
const headers = fc
  .tuple(
    rarely("Host: tocsin\r\n", "", "Host: a\r\nhost: b\r\n", "HOST: \r\n"),
    rarely(
      "Authorization: Bearer agent-key\r\n", "", "authorization: bearer agent-key\r\n", "Authorization: Bearer  agent\r\n",
      "Authorization: Bearer operator-token\r\n", "Authorization: Bearer \r\n", "Authorization: Basic YTpi\r\n",
      `Authorization: Bearer ${"k".repeat(512)}\r\n`, `Authorization: Bearer ${"k".repeat(513)}\r\n`,
      "Authorization: Bearer a b\r\n", "Authorization: Bearer \xe9\r\n",
      "Authorization: Bearer first-of-two\r\nAuthorization: Bearer operator-token\r\n",
    ), // oxfmt-ignore
    fc.oneof(
      { weight: 3, arbitrary: fc.constant("") },
      header("X-Request-Id", "My.id:1_-", "a b", "x, y", ""),
    ),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant("") },
      header("X-Forwarded-For", "192.0.2.7", "2001:db8::1, ::2", "no"),
    ),
    fc.oneof(
      { weight: 40, arbitrary: fc.constant("") },
      header("Content-Encoding", "identity", "gzip", "Identity", ""),
    ),
    fc.oneof({ weight: 40, arbitrary: fc.constant("") }, header("Expect", "100-continue", "wonders")),
    fc.oneof(
      { weight: 40, arbitrary: fc.constant("") },
      header("Content-Type", "application/json", "text/html", "%"),
    ),
    fc.oneof({ weight: 40, arbitrary: fc.constant("") }, header("Upgrade", "h2c", "websocket")),
  )
  .map((all) => all.join(""))

const chunked = (text: string): string => {
  const chunks = text.match(/[^]{1,7000}/g) ?? []
  return `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("")}0\r\n\r\n`
}

const framing = rarely("length", "chunks", "none", "both")

const framed = (frame: string, text: string): readonly [header: string, body: string] => {
  const length = `Content-Length: ${text.length}\r\n`
  switch (frame) {
    case "length":
      return [length, text]
    case "chunks":
      return ["Transfer-Encoding: chunked\r\n", chunked(text)]
    case "both":
      return [`${length}Transfer-Encoding: chunked\r\n`, chunked(text)]
    default:
      return ["", ""]
  }
}

const FILES = [
  "", ".json", "/badge.svg", "/shop.svg", ".json?t=1", "?t=1;2#x", ".atom", "/none.svg", "/", ";x", "#x", "%2ejson",
] // oxfmt-ignore

const pageFields = fc
  .tuple(
    rarely("Host: tocsin\r\n", "", "Host: a\r\nhost: b\r\n"),
    header("Accept-Encoding", "gzip", "gzip, br", "gzip;q=0", "br", ""),
    header("If-None-Match", "*", 'W/"0", *', '"0"', ""),
    header("X-Request-Id", "My.id:1_-", "a b"),
    rarely(
      "Accept: text/html\r\n",
      "Origin: https://a.example\r\n",
      "Accept-Encoding: gzip\r\n",
      "Expect: x\r\n",
    ),
    rarely("", "Content-Length: 0\r\n", "Content-Length: 1\r\n", "Transfer-Encoding: chunked\r\n"),
  )
  .map((all) => all.join(""))

/** A reader's request for a public page. */
const pageText = (connection: string): fc.Arbitrary<RequestText> =>
  fc
    .tuple(
      rarely("GET", "HEAD", "POST", "get"),
      fc.constantFrom(...PAGES),
      fc.constantFrom(...FILES),
      pageFields,
      rarely("1.1", "1.0"),
    )
    .map(([method, page, file, fields, version]) => {
      const body = fields.includes("chunked") ? "0\r\n\r\n" : fields.includes("Length: 1") ? "1" : ""
      return `${method} /status/${page}${file} HTTP/${version}\r\n${fields}Connection: ${connection}\r\n\r\n${body}`
    })

/** A request: usual, or odd in some ways. `connection` is what it says of it. */
export const requestText = (connection: string): fc.Arbitrary<RequestText> =>
  fc.oneof({ weight: 3, arbitrary: agentText(connection) }, { weight: 1, arbitrary: pageText(connection) })

/** A request of an agent. */
const agentText = (connection: string): fc.Arbitrary<RequestText> =>
  fc.tuple(line, aim, headers, framing).map(([{ method, version }, [target, body], fields, frame]) => {
    const [length, sent] = framed(frame, body)
    return `${method} ${target} HTTP/${version}\r\n${fields}Connection: ${connection}\r\n${length}\r\n${sent}`
  })
