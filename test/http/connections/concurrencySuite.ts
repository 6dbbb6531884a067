import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { itemsOf, pageOf } from "../client/itemsOf.ts"
import { onStorage } from "../onStorage.ts"
import {
  pendingAgent,
  agentPath,
  event,
  heartbeat,
  newAgent,
  push,
  type TestAgent,
} from "../client/TestAgent.ts"

const CONNECTIONS = 64
const CHECKS = 3
const statuses = ["ok", "warning", "critical", "unknown"]

/** Odd numbers that are the same in every run. */
const numbers = (seed: number) => {
  let state = seed * 2_654_435_761
  return (below: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e37_79b9) | 0
    return (state >>> 8) % below
  }
}

const reads = [
  "/api/v1/agents?limit=3",
  "/api/v1/agents/admission/blacklist",
  "/api/v1/checks?limit=5",
  "/api/v1/incidents?limit=5",
  "/api/v1/events/query?limit=5",
  "/api/v1/notifiers/outbox?limit=5",
  "/api/v1/system-summary",
  "/api/v1/health",
  "/api/v1/ready",
]

/** Registers another agent and runs the operators' actions on it. */
const shortLife = Effect.fnUntraced(function* (next: (below: number) => number) {
  const agent = newAgent()
  yield* heartbeat(agent)
  const actions = [
    ["POST", `${agentPath(agent)}/block`],
    ["DELETE", agentPath(agent)],
    ["POST", `${agentPath(agent)}/accept`],
    ["DELETE", "/api/v1/agents/admission/blacklist"],
    ["POST", "/api/v1/agents/admission/block-all"],
    ["POST", "/api/v1/agents/admission/remove-all"],
  ] as const
  const [method, path] = actions[next(actions.length)] ?? actions[0]
  const answer = yield* operate(method, path)
  // Another worker's action on all may have come first.
  assert.include([200, 404], answer.status, answer.text)
  const gone = yield* operate("DELETE", agentPath(agent))
  assert.include([200, 404], gone.status, gone.text)
})

/** One client with its own agent. Returns how many of its events were changes, and its checks. */
const client = Effect.fnUntraced(function* (agent: TestAgent, seed: number, rounds: number) {
  const next = numbers(seed + 1)
  const last = new Map<string, string>()
  let changes = 0
  for (let round = 0; round < rounds; round++) {
    const second = String(round).padStart(2, "0")
    const kind = next(6)
    if (kind < 3) {
      const events = Array.from({ length: 1 + next(CHECKS) }, () => {
        const status = statuses[next(statuses.length)] ?? "ok"
        const shared = next(4) === 0 ? { incident_key: `shared-${next(3)}` } : {}
        return { check_id: `check-${next(CHECKS)}`, status, exit_code: statuses.indexOf(status), ...shared }
      })
      const sent = events.map((one) => event({ ...one, observed_at: `2026-03-01T12:00:${second}Z` }))
      const expected = events.filter(({ check_id, status }) => {
        const isChange = last.get(check_id) !== status
        last.set(check_id, status)
        return isChange
      }).length
      const answer = yield* push(agent, ...sent)
      assert.deepStrictEqual(answer.body, { accepted: expected, deduplicated: events.length - expected })
      changes += expected
    } else if (kind === 3) {
      assert.deepStrictEqual((yield* heartbeat(agent)).body, { accepted: true })
    } else if (kind === 4 || seed % 4 !== 0) {
      const path = reads[next(reads.length)] ?? "/api/v1/agents"
      // A database that answers late, on a machine that has more to do, is not ready for a moment.
      const expected = path === "/api/v1/ready" ? [200, 503] : [200]
      assert.include(expected, (yield* operate("GET", path)).status, path)
    } else yield* shortLife(next)
  }
  return { changes, last }
})

/** All items of a list. */
const allOf = Effect.fnUntraced(function* (path: string) {
  const items = [...(yield* itemsOf(`${path}?limit=500`))]
  let page = yield* pageOf(`${path}?limit=500`)
  while (page.next_cursor !== null) {
    page = yield* pageOf(`${path}?limit=500&cursor=${page.next_cursor}`)
    items.push(...page.items)
  }
  return items
})

/** Many concurrent clients: no failure, and the counts add up. */
export const concurrencySuite = <Place>(subject: StorageUnderTest<Place>, rounds: number): void => {
  const { scenario } = onStorage(subject)

  scenario(`${CONNECTIONS} connections that send every kind of request`, () =>
    Effect.gen(function* () {
      const all = { concurrency: "unbounded" } as const
      const agents = yield* Effect.forEach(Array.from({ length: CONNECTIONS }), () => pendingAgent(), all)
      const accepted = yield* operate("POST", "/api/v1/agents/admission/accept-all")
      assert.deepStrictEqual(accepted.body, { count: CONNECTIONS })
      const done = yield* Effect.forEach(agents, (agent, seed) => client(agent, seed, rounds), all)
      const own = new Set(agents.map((agent) => agent.agent_id))
      const history = (yield* allOf("/api/v1/events/query")).filter((row) => own.has(String(row["agent_id"])))
      assert.strictEqual(
        history.length,
        done.reduce((sum, { changes }) => sum + changes, 0),
      )
      const expected = done.flatMap(({ last }, index) =>
        Array.from(last, ([check_id, status]) => `${agents[index]?.agent_id}/${check_id} ${status}`),
      )
      const checks = yield* allOf("/api/v1/checks")
      const found = checks.map(
        (row) => `${String(row["agent_id"])}/${String(row["check_id"])} ${String(row["status"])}`,
      )
      assert.deepStrictEqual(found.toSorted(), expected.toSorted())
      const { body } = yield* operate("GET", "/api/v1/system-summary")
      const count = (status: string) => expected.filter((line) => line.endsWith(` ${status}`)).length
      assert.deepInclude(body, {
        agents_online: CONNECTIONS,
        agents_offline: 0,
        ...Object.fromEntries(statuses.map((status) => [`checks_${status}`, count(status)])),
        open_incidents: (yield* allOf("/api/v1/incidents")).filter((row) => row["state"] === "open").length,
      })
      assert.strictEqual((yield* call("GET", "/api/v1/ready")).status, 200)
    }),
  )
}
