import { assert, describe, it } from "@effect/vitest"
import { judge, type RequestKind } from "../../src/agent/Answer.ts"

const EVIL = "no\u001b]0;title\u0007\u001b[2J\nagent  running\u202e\u009b31m"
const PLAIN = "no agent running"

const DATE = "Thu, 01 Jan 2037 00:00:00 GMT"
const KINDS: ReadonlyArray<RequestKind> = ["heartbeat", "events", "declaration"]
const ANSWERED: ReadonlyArray<number> = [200, 202, 204, 301, 400, 401, 403, 404, 407, 409, 413, 429, 500, 502]
/** Answers of gateways, captive portals and other services. */
const OTHERS = ["", "<p>Sign in</p>", "{}", '{"error":"not_found"}', '{"error":{"code":"slow_down"}}']

describe("an answer", () => {
  it("of another program states no time to follow, whatever its status", () => {
    for (const kind of KINDS) {
      for (const status of ANSWERED) {
        for (const body of OTHERS) {
          const { date } = judge({ status, body, date: DATE }, kind, 0)
          assert.isUndefined(date, `${kind} ${status} ${body}`)
        }
      }
    }
  })

  it("asks to wait until a date by its own clock, and by the host's where it has none", () => {
    const now = Date.parse(DATE) - 3_600_000
    const waitOf = (retryAfter: string, date?: string) =>
      judge({ status: 503, body: "", retryAfter, date }, "events", now).retryAfterMillis
    const later = "Thu, 01 Jan 2037 00:00:30 GMT"
    assert.deepStrictEqual(
      [
        waitOf(later, DATE),
        waitOf(DATE, later),
        waitOf(DATE),
        waitOf("30", DATE),
        waitOf(" 7 "),
        waitOf("12.7"),
      ],
      [30_000, 0, 3_600_000, 30_000, 7_000, 12_700],
    )
    for (const other of ["soon", "-5", ".5", "5,5", "2037-01-01", "Thu, 99 Jan 2037 00:00:00 GMT"])
      assert.isUndefined(waitOf(other, DATE), other)
  })

  it("of the server states its time, a refusal as well", () => {
    const refused = JSON.stringify({ error: { code: "rate_limited", message: "", request_id: "" } })
    assert.strictEqual(
      judge({ status: 202, body: '{"accepted":true}', date: DATE }, "heartbeat", 0).date,
      DATE,
    )
    assert.strictEqual(judge({ status: 429, body: refused, date: DATE }, "events", 0).date, DATE)
  })

  it("is one line that is safe on a terminal, also where another program answers the agent", () => {
    const body = JSON.stringify({ error: { code: "agent_blocked", message: EVIL } })
    const refused = judge({ status: 403, body }, "heartbeat", 0)
    assert.deepStrictEqual([refused.verdict, refused.message], ["blocked", `403 ${PLAIN}`])
    const { message } = judge({ status: 502, body: `<p>\u001b[2J</p>\n\u009b31m` }, "heartbeat", 0)
    assert.strictEqual(message, "502 <p></p>")
  })
})
