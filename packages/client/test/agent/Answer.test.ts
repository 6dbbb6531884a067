import { assert, describe, it } from "@effect/vitest"
import { judge } from "../../src/agent/Answer.ts"

const EVIL = "no\u001b]0;title\u0007\u001b[2J\nagent  running\u202e\u009b31m"
const PLAIN = "no ]0;title [2J agent running 31m"

describe("an answer", () => {
  it("is one line that is safe on a terminal, also where another program answers the agent", () => {
    const body = JSON.stringify({ error: { code: "agent_blocked", message: EVIL } })
    const refused = judge({ status: 403, body }, "heartbeat", 0)
    assert.deepStrictEqual([refused.verdict, refused.message], ["blocked", `403 ${PLAIN}`])
    const { message } = judge({ status: 502, body: `<p>\u001b[2J</p>\n\u009b31m` }, "heartbeat", 0)
    assert.strictEqual(message, "502 <p> [2J</p> 31m")
  })
})
