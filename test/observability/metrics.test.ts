import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { enroll, heartbeat, report } from "../processes/Agent.ts"
import { call, OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import { MARK, secretOf } from "../processes/secrecy.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { metricDefinitions } from "./metricSubjects.ts"
import { valueOf } from "./Exposition.ts"
import { untilScraped, use } from "./usedServer.ts"

const READ_TOKEN = secretOf("reader")
const METRICS_TOKEN = secretOf("scraper")

const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_READ_TOKEN: READ_TOKEN }

/** Metrics that a server on SQLite or on PostgreSQL does not have. */
const OF_POSTGRES = /^tocsin_postgres_/
const OF_SQLITE = /^tocsin_(sqlite|data)_/

const statusOf = (answer: { readonly status: number }) => answer.status

/** No sender or mail reports, nothing is watched, no browser rings, and no alert repeats, since there is no alert router. */
const IDLE = [
  "tocsin_integration_requests_total",
  "tocsin_integration_fullness_ratio",
  "tocsin_watch_probes_total",
  "tocsin_alert_resends_total",
  "tocsin_mail_replies_total",
  "tocsin_push_messages_total",
]

describe("metrics of a server", () => {
  it.live("count the work of agents and operators on SQLite", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ cwd: yield* scratchFolder, environment })
      yield* use(server)
      const told = yield* untilScraped(
        server,
        "all metrics are there",
        (families) => valueOf(families, "tocsin_notifier_attempts_total", { outcome: "delivered" }) === 1,
      )
      const counts = (name: string, labels: Readonly<Record<string, string>> = {}) =>
        valueOf(told, name, labels)

      assert.strictEqual(counts("tocsin_storage_up"), 1)
      assert.strictEqual(counts("tocsin_heartbeats_total", { outcome: "registered" }), 2)
      assert.strictEqual(counts("tocsin_heartbeats_total", { outcome: "seen" }), 1)
      assert.strictEqual(counts("tocsin_heartbeats_total", { outcome: "key_of_another_agent" }), 1)
      assert.strictEqual(counts("tocsin_event_batches_total", { outcome: "applied" }), 2)
      assert.strictEqual(counts("tocsin_event_batches_total", { outcome: "agent_not_accepted" }), 1)
      assert.strictEqual(counts("tocsin_check_results_total", { outcome: "changed" }), 2)
      assert.strictEqual(counts("tocsin_check_results_total", { outcome: "unchanged" }), 1)
      assert.strictEqual(counts("tocsin_check_results_total", { outcome: "known_event" }), 1)
      assert.strictEqual(counts("tocsin_check_result_lag_seconds_count"), 4)
      assert.strictEqual(counts("tocsin_agents", { status: "alive" }), 1)
      assert.strictEqual(counts("tocsin_agents", { status: "pending" }), 1)
      assert.strictEqual(counts("tocsin_checks", { status: "critical" }), 1)
      assert.strictEqual(counts("tocsin_incidents_open", { severity: "critical" }), 1)
      assert.strictEqual(counts("tocsin_outbox_items", { notifier: "debug" }), 0)
      assert.strictEqual(counts("tocsin_outbox_oldest_age_seconds", { notifier: "debug" }), 0)
      assert.strictEqual(counts("tocsin_notification_delay_seconds_count", { notifier: "debug" }), 1)
      assert.strictEqual(counts("tocsin_sign_ins_total", { outcome: "origin" }), 1)
      const requests = (route: string, status: string) =>
        counts("tocsin_http_requests_total", { route, status })
      assert.strictEqual(requests("/api/v1/heartbeat", "202"), 3)
      assert.strictEqual(requests("/api/v1/heartbeat", "409"), 1)
      assert.strictEqual(requests("/api/v1/events", "403"), 1)
      assert.strictEqual(requests("/api/v1/agents/:agent_id", "404"), 1)
      assert.strictEqual(requests("/api/v1/checks", "404"), 1)
      assert.strictEqual(requests("unmatched", "404"), 1)
      assert.isAbove(counts("tocsin_commit_group_size_count", { storage: "sqlite" }) ?? 0, 5)
      assert.isAbove(counts("tocsin_row_cache_lookups_total", { storage: "sqlite", result: "hit" }) ?? 0, 0)
      assert.isAbove(counts("tocsin_sqlite_file_bytes") ?? 0, 4_096)
      assert.isAbove(counts("process_resident_memory_bytes") ?? 0, 2 ** 20)

      const missing = metricDefinitions
        .filter(({ name }) => !OF_POSTGRES.test(name) && !told.has(name))
        .map(({ name }) => name)
      assert.sameMembers(missing, IDLE)
      for (const { name, type, help } of told.values()) {
        const definition = metricDefinitions.find((one) => one.name === name)
        assert.deepStrictEqual({ type, help }, { type: definition?.type, help: definition?.help }, name)
      }
      const { text } = yield* Effect.orDie(call(server, "GET", "/metrics"))
      assert.notInclude(text, MARK)
      assert.notInclude(text, "web-1")
    }),
  )

  it.live(
    "include those of PostgreSQL, and are served while it is unreachable, except those read from it",
    () =>
      Effect.gen(function* () {
        const postgres = yield* scratchPostgres
        const server = yield* startServer({
          cwd: yield* scratchFolder,
          environment: { ...environment, DATABASE_URL: Redacted.value(postgres.url) },
        })
        yield* use(server)
        const told = yield* untilScraped(
          server,
          "a commit is counted",
          (families) =>
            (valueOf(families, "tocsin_commit_group_size_count", { storage: "postgres", path: "cached" }) ??
              0) > 0,
        )
        const missing = metricDefinitions
          .filter(({ name }) => !OF_SQLITE.test(name) && !told.has(name))
          .map(({ name }) => name)
        assert.sameMembers(missing, IDLE)
        assert.isAbove(valueOf(told, "tocsin_postgres_connections", { pool: "groups" }) ?? 0, 0)
        assert.isAbove(valueOf(told, "tocsin_row_cache_lookups_total", { result: "hit" }) ?? 0, 0)
        assert.strictEqual(valueOf(told, "tocsin_agents", { status: "alive" }), 1)
        assert.strictEqual(valueOf(told, "tocsin_storage_up"), 1)
        yield* postgres.away
        const later = yield* untilScraped(
          server,
          "the storage is reported as unreachable",
          (families) => valueOf(families, "tocsin_storage_up") === 0,
        )
        assert.isFalse(later.has("tocsin_agents"))
        assert.isTrue(later.has("tocsin_heartbeats_total"))
        assert.isTrue(later.has("process_cpu_seconds_total"))
      }),
  )

  it.live(
    "need an operator token or the metrics token, those of checks also where all others need none",
    () =>
      Effect.gen(function* () {
        const cwd = yield* scratchFolder
        const start = (settings: Readonly<Record<string, string>>) =>
          startServer({ cwd, environment: { ...environment, DATABASE_URL: "memory:", ...settings } })
        const own = yield* start({})
        const ofChecks = { SERVICE_CHECK_METRICS: "true" }
        const withToken = yield* start({ SERVICE_METRICS_TOKEN: METRICS_TOKEN, ...ofChecks })
        const open = yield* start({ SERVICE_METRICS_TOKEN: "open", ...ofChecks })
        const statuses = Effect.fnUntraced(function* (server: typeof own, ...tokens: ReadonlyArray<string>) {
          const answers = yield* Effect.forEach(tokens, (token) =>
            Effect.orDie(call(server, "GET", "/metrics", { token })),
          )
          return answers.map(statusOf)
        })
        const all = [OPERATOR_TOKEN, READ_TOKEN, METRICS_TOKEN, secretOf("nobody"), "", "two words"]
        assert.deepStrictEqual(yield* statuses(own, ...all), [200, 200, 401, 401, 401, 401])
        assert.deepStrictEqual(yield* statuses(withToken, ...all), [200, 200, 200, 401, 401, 401])
        assert.deepStrictEqual(yield* statuses(open, ...all), [200, 200, 200, 200, 200, 200])
        const agents = yield* Effect.orDie(call(withToken, "GET", "/api/v1/agents", { token: METRICS_TOKEN }))
        assert.strictEqual(agents.status, 401)
        const registered = yield* Effect.orDie(
          heartbeat(withToken, { agent_id: "scraper", key: METRICS_TOKEN }),
        )
        assert.strictEqual(registered.status, 401)

        const agent = yield* enroll(withToken, "web-1")
        const { key } = agent
        yield* report(withToken, agent, { check_id: "disk", status: "critical" })
        const checks = (server: typeof own, token: string, query = "") =>
          Effect.map(Effect.orDie(call(server, "GET", `/metrics/checks${query}`, { token })), statusOf)
        assert.strictEqual(yield* checks(withToken, METRICS_TOKEN), 200)
        assert.strictEqual(yield* checks(withToken, OPERATOR_TOKEN), 200)
        assert.strictEqual(yield* checks(withToken, key), 401)
        assert.strictEqual(yield* checks(withToken, METRICS_TOKEN, "?match=nonsense"), 400)
        assert.strictEqual(yield* checks(open, "open"), 401)
        assert.strictEqual(yield* checks(own, OPERATOR_TOKEN), 404)
        const told = yield* Effect.orDie(call(withToken, "GET", "/metrics/checks"))
        assert.include(told.text, 'tocsin_check_info{agent_id="web-1",check_id="disk"')
        const others = yield* Effect.orDie(call(withToken, "GET", "/metrics"))
        assert.notInclude(others.text, "tocsin_check_info")
        assert.notInclude(others.text, "web-1")

        const refused = yield* Effect.orDie(call(own, "GET", "/metrics", { token: "wrong" }))
        assert.strictEqual(refused.headers.get("www-authenticate"), "Bearer")
        const { error } = JSON.parse(refused.text)
        assert.strictEqual(error.code, "unauthorized")
        assert.strictEqual(error.request_id, refused.headers.get("x-request-id"))
        const allowed = yield* Effect.orDie(call(own, "GET", "/metrics"))
        assert.strictEqual(allowed.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
        assert.strictEqual(allowed.headers.get("cache-control"), "no-store")
      }),
  )
})
