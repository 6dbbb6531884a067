import { Effect } from "effect"
import { type Agent, enroll, eventOf, heartbeat, push, report } from "../processes/Agent.ts"
import { call, operate, outboxOf } from "../processes/api.ts"
import { secretOf } from "../processes/secrecy.ts"
import type { ServerProcess } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { type Family, parseExposition } from "./Exposition.ts"

/** Reads the metrics of a server. */
const scrape = Effect.fnUntraced(function* (server: ServerProcess) {
  const { text } = yield* operate(server, "GET", "/metrics")
  return parseExposition(text)
})

/**
 * Uses a server as agents and operators do, so that everything that is counted has been. Returns
 * its accepted agent.
 */
export const use = Effect.fnUntraced(function* (server: ServerProcess): Effect.fn.Return<Agent> {
  const agent = yield* enroll(server, "web-1")
  yield* Effect.orDie(heartbeat(server, agent))
  yield* Effect.orDie(heartbeat(server, { agent_id: "web-2", key: agent.key }))
  yield* Effect.orDie(heartbeat(server, { agent_id: "waits", key: secretOf("waits") }))
  yield* report(server, agent, { check_id: "disk", status: "critical" }, { check_id: "cpu", status: "ok" })
  const again = eventOf({ check_id: "disk", status: "critical" })
  yield* Effect.orDie(push(server, agent, [again, again]))
  const stranger = { agent_id: "web-1", key: secretOf("stranger") }
  yield* Effect.orDie(push(server, stranger, [eventOf({ check_id: "disk", status: "ok" })]))
  yield* Effect.orDie(call(server, "GET", "/api/v1/agents/nobody"))
  yield* Effect.orDie(call(server, "GET", "/nowhere"))
  yield* Effect.orDie(call(server, "DELETE", "/api/v1/checks"))
  const returned = { code: "a code", verifier: "a verifier", nonce: "a nonce" }
  yield* Effect.orDie(call(server, "POST", "/ops/v1/session", { json: returned }))
  yield* until(
    "the notification is sent",
    Effect.map(outboxOf(server), (items) => items.some(({ state }) => state === "sent")),
  )
  return agent
})

/** Waits until the metrics, which are cached for a second, satisfy a condition. */
export const untilScraped = (
  server: ServerProcess,
  what: string,
  isNotified: (families: ReadonlyMap<string, Family>) => boolean,
) =>
  until(
    what,
    Effect.map(scrape(server), (families) => (isNotified(families) ? families : undefined)),
  )
