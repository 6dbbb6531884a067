import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { faultyNetwork } from "../postgres/faultyNetwork.ts"
import { type Agent, enroll, type Event, eventOf, heartbeat, push } from "./Agent.ts"
import { call, historyOf, OPERATOR_TOKEN, outboxOf, statusOf } from "./api.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import type { Environment } from "./secrecy.ts"
import { type ServerProcess, startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"
import { startReceiver } from "./WebhookReceiver.ts"

const start = Effect.fnUntraced(function* (url: Redacted.Redacted, changes: Environment = {}) {
  const environment = { DATABASE_URL: Redacted.value(url), SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, ...changes }
  const server = yield* startServer({ cwd: yield* scratchFolder, environment })
  return { server, agent: yield* enroll(server, "web-1") }
})

const untilReadiness = (server: ServerProcess, status: 200 | 503, within: `${number} seconds`) =>
  until(
    `readiness is ${status}`,
    Effect.map(statusOf(server, "/api/v1/ready"), (found) => found === status),
    within,
  )

/**
 * Health ignores the storage; other requests are refused so that clients retry
 * (docs/rules.md#health-and-readiness).
 */
const assertRefused = Effect.fnUntraced(function* (server: ServerProcess, agent: Agent) {
  assert.strictEqual(yield* statusOf(server, "/api/v1/health"), 200)
  const answers = yield* Effect.all(
    [
      heartbeat(server, agent),
      push(server, agent, [eventOf({ check_id: "refused", status: "critical" })]),
      call(server, "GET", "/api/v1/incidents"),
      call(server, "GET", "/api/v1/system-summary"),
      call(server, "POST", "/api/v1/agents/web-1/accept"),
    ],
    { concurrency: "unbounded" },
  )
  for (const { status, headers, text } of answers) {
    assert.strictEqual(`${status} ${headers.get("retry-after")}`, "500 1", text)
    assert.match(text, /^{"error":{"code":"internal","message":"[^"]+","request_id":"[^"]+"}}$/)
  }
})

// The limits are promised in seconds, which a busy machine may miss once.
describe.concurrent("a server whose PostgreSQL becomes unreachable", { retry: 2 }, () => {
  it.live("allows fewer connections than the server needs: it warns", () =>
    Effect.gen(function* () {
      const { replica, url } = yield* scratchPostgres
      const { sql } = yield* replica()
      const { pathname } = new URL(Redacted.value(url))
      yield* sql.unsafe(`ALTER DATABASE "${pathname.slice(1)}" CONNECTION LIMIT 18`)
      const { server } = yield* start(url)
      yield* until(
        "the warning",
        Effect.sync(
          () =>
            server.output.stderr.includes("opens up to 19 connections, but PostgreSQL allows 18") ||
            undefined,
        ),
      )
    }),
  )

  it.live("reports it, refuses writes, and recovers without a restart", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(() => ({ status: 200 }))
      const { url, away } = yield* scratchPostgres
      const { server, agent } = yield* start(url, {
        SERVICE_NOTIFIERS: "webhook",
        ...receiver.settings("hooks"),
      })
      assert.strictEqual(yield* statusOf(server, "/api/v1/ready"), 200)
      const acknowledged: Array<Event> = []
      const pushOn = Effect.gen(function* () {
        const status = acknowledged.length % 2 === 0 ? "critical" : "ok"
        const event = eventOf({ check_id: "disk", status })
        const answer = yield* push(server, agent, [event])
        if (answer.status === 202) acknowledged.push(event)
        else assert.strictEqual(`${answer.status} ${answer.headers.get("retry-after")}`, "500 1", answer.text)
      })
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(pushOn, Effect.sleep("5 millis"))))
      for (let loss = 0; loss < 2; loss++) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* away
            yield* untilReadiness(server, 503, "3 seconds")
            yield* assertRefused(server, agent)
          }),
        )
        yield* untilReadiness(server, 200, "5 seconds")
        const before = acknowledged.length
        yield* until(
          "events are kept again",
          Effect.sync(() => acknowledged.length > before),
          "5 seconds",
        )
      }
      // Noted before the history is read, since results are still being acknowledged.
      const kept = acknowledged.map(({ event_id }) => event_id)
      const history = (yield* historyOf(server)).map(({ event_id }) => String(event_id))
      assert.includeMembers(history, kept)
      const told = Effect.map(outboxOf(server), (items) => items.some(({ state }) => state === "sent"))
      yield* until("notifications are delivered", told, "5 seconds")
      assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })
    }),
  )

  it.live("writes again within 15 s after its host vanished, and is not ready before", () =>
    Effect.gen(function* () {
      const network = yield* faultyNetwork((yield* scratchPostgres).url)
      const { server, agent } = yield* start(network.url)
      yield* untilReadiness(server, 200, "3 seconds")
      yield* network.vanish
      const vanished = yield* Clock.currentTimeMillis
      const event = eventOf({ check_id: "disk", status: "critical" })
      const pushing = yield* Effect.forkScoped(
        until(
          "an event is kept",
          Effect.map(push(server, agent, [event]), ({ status }) => status === 202),
          "15 seconds",
        ),
      )
      yield* untilReadiness(server, 503, "3 seconds")
      yield* untilReadiness(server, 200, "15 seconds")
      yield* Fiber.join(pushing)
      assert.isBelow((yield* Clock.currentTimeMillis) - vanished, 15_000)
      assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })
    }),
  )

  it.live("is not ready within 3 s of refused writes", () =>
    Effect.gen(function* () {
      const { url, replica, killConnections } = yield* scratchPostgres
      const { server } = yield* start(url)
      yield* untilReadiness(server, 200, "3 seconds")
      const { sql } = yield* replica({ maxConnections: 1 })
      const [row] = yield* sql<{ name: string }>`SELECT current_database() AS name`
      const database = sql(row?.name ?? "")
      yield* sql`ALTER DATABASE ${database} SET default_transaction_read_only = on`
      yield* killConnections
      yield* untilReadiness(server, 503, "3 seconds")
      yield* Effect.retry(
        sql.withTransaction(sql`ALTER DATABASE ${database} RESET default_transaction_read_only`),
        { times: 3 },
      ).pipe(Effect.provideService(SqlClient.BeginTransaction, "BEGIN READ WRITE"))
      yield* untilReadiness(server, 200, "5 seconds")
      assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })
    }),
  )

  it.live("is not ready within 3 s of a silent connection", () =>
    Effect.gen(function* () {
      const network = yield* faultyNetwork((yield* scratchPostgres).url)
      const { server, agent } = yield* start(network.url, { SERVICE_STORAGE_TIMEOUT: "2s" })
      yield* network.holdReplies
      const asked = yield* Clock.currentTimeMillis
      yield* assertRefused(server, agent)
      assert.isBelow((yield* Clock.currentTimeMillis) - asked, 4_000)
      yield* untilReadiness(server, 503, "3 seconds")
      yield* network.passReplies
      yield* untilReadiness(server, 200, "5 seconds")
      const { text } = yield* Effect.orDie(push(server, agent, [eventOf({ check_id: "disk", status: "ok" })]))
      assert.strictEqual(text, '{"accepted":1,"deduplicated":0}')
      assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })
    }),
  )
})
