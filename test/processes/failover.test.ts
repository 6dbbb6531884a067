import process from "node:process"
import { PgClient } from "@tocsin/adapter-pg/client/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { startPostgres } from "../postgres/startPostgres.ts"
import { type Agent, enroll, eventOf, push, type Result } from "./Agent.ts"
import { historyOf, incidentsOf, OPERATOR_TOKEN } from "./api.ts"
import { scratchFolder } from "./scratch.ts"
import { type ServerProcess, startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"

/** How often the primary is killed. */
const KILLS = Number(process.env["FAILOVER_KILLS"] ?? "1")
const SERVERS = 3
const AGENTS = 6
const CHECKS = 5

/** Results that were acknowledged. */
interface Reports {
  readonly ids: Set<string>
  readonly latest: Map<string, Result["status"]>
  isOver: boolean
}

const administrator = (url: string) =>
  Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })), (services) =>
    Context.get(services, SqlClient.SqlClient),
  )

/** Has every COMMIT wait until a standby has written it. */
const makeSynchronous = (url: string) =>
  Effect.gen(function* () {
    const sql = yield* administrator(url)
    yield* sql`ALTER SYSTEM SET synchronous_standby_names = '*'`
    yield* sql`SELECT pg_reload_conf()`
    yield* until(
      "the standby is synchronous",
      Effect.map(sql`SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`, (rows) => rows.length === 1),
    )
  }).pipe(Effect.scoped, Effect.orDie)

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
    reports.ids.add(event.event_id)
    reports.latest.set(`${agent.agent_id}/${check_id}`, status)
    yield* Effect.sleep("20 millis")
  }
})

describe(`${SERVERS} servers on a PostgreSQL with a synchronous standby`, () => {
  it.live(
    `lose nothing acknowledged when the primary is killed and the standby promoted (${KILLS} times)`,
    () =>
      Effect.gen(function* () {
        const postgres = yield* Effect.acquireRelease(Effect.promise(startPostgres), ({ stop }) =>
          Effect.promise(stop),
        )
        let primary = postgres.url
        let standby = yield* Effect.promise(() => postgres.standbyOf(primary))
        yield* makeSynchronous(primary)
        const cwd = yield* scratchFolder
        const both = primary.replace(/@([^/]*)\//, `@$1,${new URL(standby).host}/`)
        const servers = yield* Effect.forEach(Array.from({ length: SERVERS }), () =>
          startServer({
            cwd,
            environment: { DATABASE_URL: both, SERVICE_AUTH_TOKEN: OPERATOR_TOKEN },
          }),
        )
        const [server] = servers
        if (server === undefined) return yield* Effect.die("there is no server")
        const agents = yield* Effect.forEach(Array.from({ length: AGENTS }), (_, n) =>
          enroll(server, `agent-${n}`),
        )
        const reports: Reports = { ids: new Set(), latest: new Map(), isOver: false }
        const load = yield* Effect.forkScoped(
          Effect.forEach(
            agents.flatMap((agent) =>
              Array.from({ length: CHECKS }, (_, n) => [agent, `check-${n}`] as const),
            ),
            ([agent, check]) => flap(servers, reports, agent, check),
            { concurrency: "unbounded", discard: true },
          ),
        )
        const resumed = Effect.suspend(() => {
          const before = reports.ids.size
          const some = AGENTS * CHECKS * 2
          return until(
            "work goes on",
            Effect.sync(() => reports.ids.size > before + some),
          )
        })
        yield* resumed
        for (let kill = 0; kill < KILLS; kill++) {
          yield* Effect.promise(() => postgres.kill(primary))
          yield* Effect.promise(() => postgres.promote(standby))
          const promotedAt = performance.now()
          yield* resumed
          yield* Effect.logInfo(`resumed after ${Math.round(performance.now() - promotedAt)} ms`)
          const killed = primary
          primary = standby
          standby = yield* Effect.promise(() => postgres.standbyOf(primary, killed))
          yield* makeSynchronous(primary)
          yield* resumed
        }
        reports.isOver = true
        yield* Fiber.join(load)

        const stored = new Set((yield* historyOf(server)).map(({ event_id }) => String(event_id)))
        assert.deepStrictEqual(
          Array.from(reports.ids).filter((id) => !stored.has(id)),
          [],
        )
        const open = (yield* incidentsOf(server)).filter(({ state }) => state === "open")
        const failing = Array.from(reports.latest).flatMap(([key, status]) => (status === "ok" ? [] : [key]))
        assert.sameMembers(
          open.map(({ incident_key }) => String(incident_key)),
          failing,
        )
      }),
    120_000 * KILLS,
  )
})
