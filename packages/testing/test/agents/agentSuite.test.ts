import { assert, describe, it } from "@effect/vitest"
import { agentSuite } from "../../src/agents/agentSuite.ts"
import type { AgentPlace, RunningAgent } from "../../src/agents/RunningAgent.ts"

const EXIT_CODES = { ok: 0, warning: 1, critical: 2, unknown: 3 } as const

/** An agent that ends its run when its heartbeat fails, and keeps its results for the next. */
const startCautious = async ({ url, agentId }: AgentPlace): Promise<RunningAgent> => {
  const waiting: Array<object> = []
  const post = (path: string, body: object): Promise<boolean> =>
    fetch(`${url}/api/v1/${path}`, {
      method: "POST",
      headers: { authorization: "Bearer the-key-of-host-1", "content-type": "application/json" },
      body: JSON.stringify({ agent_id: agentId, ...body }),
    }).then(
      async (answer) => answer.ok && (await answer.json().catch(() => undefined)) !== undefined,
      () => false,
    )
  const now = (): string => new Date().toISOString()
  const run = async (): Promise<void> => {
    const features = { push: true, metrics: false }
    if (!(await post("heartbeat", { observed_at: now(), hostname: "host-1", features }))) return
    const events = waiting.slice()
    if (events.length > 0 && (await post("events", { events }))) waiting.splice(0, events.length)
  }
  let count = 0
  await run()
  return {
    report: async (check_id, status, output) => {
      count += 1
      const event_id = `01890a5d-ac96-774b-bcce-${String(count).padStart(12, "0")}`
      const exit_code = EXIT_CODES[status]
      waiting.push({ event_id, check_id, observed_at: now(), status, exit_code, duration_ms: 1, output })
      await run()
    },
    nudge: run,
    stop: async () => {},
  }
}

describe("agentSuite", () => {
  const beside = "not what this agent is about"
  agentSuite({
    start: startCautious,
    without: {
      "cuts a long text between characters, and says how much is missing": beside,
      "waits as long as Retry-After asks": beside,
      "sends the others when the server refuses one result": beside,
      "keeps results until its key is accepted": beside,
      "keeps its key and its results when it is restarted": beside,
    },
  })

  it("refuses a name that is no case, instead of running the case that was meant", () => {
    // An option that a caller without types may pass.
    const without = Object.fromEntries([["waits as Retry-After asks", beside]])
    assert.throws(() => agentSuite({ start: startCautious, without }), /no case is named waits as/)
  })
})
