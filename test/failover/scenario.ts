import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { type Agent, enroll, eventOf, push, type Result } from "../processes/Agent.ts"
import { historyOf, incidentsOf, OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { AT_LENGTH } from "../properties/atLength.ts"

/** PostgreSQL servers of which one takes writes. */
export interface Cluster {
  /** Whether a COMMIT waits until a standby has it. */
  readonly isSynchronous: boolean
  /** Names all of them. */
  readonly url: string
  /** Kills the primary, and waits until a standby takes its place. */
  readonly failOver: Effect.Effect<void>
  /** Has the killed server return as a standby, and waits until it follows. */
  readonly repair: Effect.Effect<void>
}

/** How often the primary is killed. */
export const KILLS = AT_LENGTH ? 3 : 1
const SERVERS = 3
const AGENTS = 4
const CHECKS = 3

/** Results that were acknowledged. */
interface Reports {
  /** Each with the moment, by `performance.now`. */
  readonly ids: Map<string, number>
  readonly latest: Map<string, Result["status"]>
  isOver: boolean
}

/** Has a check change its status again and again, each time once the last change is acknowledged. */
const flap = Effect.fnUntraced(function* (
  servers: ReadonlyArray<ServerProcess>,
  reports: Reports,
  agent: Agent,
  check_id: string,
) {
  for (let turn = 0; !reports.isOver; turn++) {
    const status = turn % 2 === 0 ? "critical" : "ok"
    const event = eventOf({ check_id, status })
    let attempt = turn
    yield* until(
      `${event.event_id} is acknowledged`,
      Effect.gen(function* () {
        attempt += 1
        const server = servers[attempt % servers.length]
        if (server === undefined) return yield* Effect.die("there is no server")
        const answer = yield* push(server, agent, [event])
        if (answer.status === 202) return true
        assert.include([500, 503], answer.status, answer.text)
        return yield* Effect.as(Effect.sleep("100 millis"), false as const)
      }).pipe(Effect.catchTag("Unanswered", () => Effect.succeed(false as const))),
    )
    reports.ids.set(event.event_id, performance.now())
    reports.latest.set(`${agent.agent_id}/${check_id}`, status)
    yield* Effect.sleep("200 millis")
  }
})

/**
 * Three servers take results while the primary is killed again and again. Nothing acknowledged is lost,
 * unless PostgreSQL lost it with the primary. What is open in the end is what agents reported last.
 */
export const playFailover = Effect.fnUntraced(function* (cluster: Cluster) {
  const cwd = yield* scratchFolder
  const servers = yield* Effect.forEach(Array.from({ length: SERVERS }), () =>
    startServer({
      cwd,
      environment: { DATABASE_URL: cluster.url, SERVICE_AUTH_TOKEN: OPERATOR_TOKEN },
    }),
  )
  const [server] = servers
  if (server === undefined) return yield* Effect.die("there is no server")
  const agents = yield* Effect.forEach(Array.from({ length: AGENTS }), (_, n) => enroll(server, `agent-${n}`))
  const reports: Reports = { ids: new Map(), latest: new Map(), isOver: false }
  const load = yield* Effect.forkScoped(
    Effect.forEach(
      agents.flatMap((agent) => Array.from({ length: CHECKS }, (_, n) => [agent, `check-${n}`] as const)),
      ([agent, check]) => flap(servers, reports, agent, check),
      { concurrency: "unbounded", discard: true },
    ),
  )
  const goesOn = Effect.suspend(() => {
    const enough = reports.ids.size + AGENTS * CHECKS * 2
    return until(
      "work goes on",
      Effect.sync(() => reports.ids.size > enough),
    )
  })
  yield* goesOn
  const promotions: Array<number> = []
  for (let kill = 0; kill < KILLS; kill++) {
    yield* cluster.failOver
    const promotedAt = performance.now()
    promotions.push(promotedAt)
    yield* goesOn
    yield* Effect.logInfo(
      `at work again ${Math.round(performance.now() - promotedAt)} ms after the promotion`,
    )
    yield* cluster.repair
    yield* goesOn
  }
  reports.isOver = true
  yield* Fiber.join(load)

  const stored = new Set((yield* historyOf(server)).map(({ event_id }) => String(event_id)))
  const lost = Array.from(reports.ids).filter(([id]) => !stored.has(id))
  if (cluster.isSynchronous) assert.deepStrictEqual(lost, [])
  else assert.isNotEmpty(lost)
  // A check may say first what the new primary takes for its present state: no change, so not stored.
  const late = lost.filter(([, at]) => at > (promotions.at(-1) ?? 0))
  assert.isAtMost(late.length, reports.latest.size)
  const open = (yield* incidentsOf(server)).filter(({ state }) => state === "open")
  const failing = Array.from(reports.latest).flatMap(([key, status]) => (status === "ok" ? [] : [key]))
  assert.sameMembers(
    open.map(({ incident_key }) => String(incident_key)),
    failing,
  )
})
