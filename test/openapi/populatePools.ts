import { Effect } from "effect"
import { until } from "../processes/until.ts"
import type { Pools } from "./arbitraryOf.ts"
import { DocumentedServer, UI_TOKEN } from "./DocumentedServer.ts"

/** Keys of agents, each in another state of admission. */
export const KEYS = {
  accepted: "key-of-web",
  rotating: "key-of-db",
  replacement: "new-key-of-db",
  pending: "key-of-guest",
  blocked: "key-of-stranger",
  unknown: "key-of-nobody",
}

const heartbeat = (agent_id: string) => ({
  agent_id,
  observed_at: "2026-03-01T12:00:00Z",
  hostname: `${agent_id}.example.org`,
  features: { push: true, metrics: false },
  labels: { role: "test" },
})

const eventId = (number: number) => `0190a5d0-0000-7000-8000-${number.toString(16).padStart(12, "0")}`

const result = (number: number, check_id: string, status: string, more: object = {}) => ({
  event_id: eventId(number),
  check_id,
  observed_at: "2026-03-01T12:00:00Z",
  status,
  exit_code: status === "ok" ? 0 : 2,
  duration_ms: 12,
  output: `${check_id} is ${status}`,
  ...more,
})

const results = [
  result(1, "fine", "ok"),
  result(2, "disk", "critical"),
  result(3, "load", "warning", { incident_key: "shared" }),
  result(4, "odd", "unknown", { notifications_enabled: false }),
  result(5, "brief", "critical"),
  result(6, "brief", "ok", { observed_at: "2026-03-01T12:00:01.000001Z" }),
]

const asOperator = Effect.fnUntraced(function* (method: string, path: string) {
  const { ask } = yield* DocumentedServer
  return yield* ask(method, `/api/v1${path}`, UI_TOKEN)
})

const idsAt = (path: string) =>
  Effect.map(asOperator("GET", path), ({ body }) => {
    const { items } = body as { readonly items: ReadonlyArray<{ readonly id: string }> }
    return items.map(({ id }) => id)
  })

const cursorAt = Effect.fnUntraced(function* (path: string) {
  const { body } = yield* asOperator("GET", path)
  // Cursors are texts or null.
  return Object.values(body as Record<string, unknown>).filter((value) => typeof value === "string")
})

const HELD_KEYS = ["one", "two", "three"]

/** Firings that an acknowledgement holds: of the second member of each incident. */
const hold = Effect.gen(function* () {
  const { ask } = yield* DocumentedServer
  const report = (first: number, name: string, more: object) =>
    ask("POST", "/api/v1/events", KEYS.accepted, {
      agent_id: "web",
      events: HELD_KEYS.map((incident_key, index) =>
        result(first + index, `${name}-${incident_key}`, "critical", { incident_key, ...more }),
      ),
    })
  yield* report(100, "known", { notifications_enabled: false })
  const { body } = yield* asOperator("GET", "/incidents?state=open")
  const { items } = body as {
    readonly items: ReadonlyArray<{ readonly id: string; readonly incident_key: string }>
  }
  const ids = items.filter(({ incident_key }) => HELD_KEYS.includes(incident_key)).map(({ id }) => id)
  yield* ask("POST", "/ops/v1/incidents/acknowledge", UI_TOKEN, { ids })
  yield* report(200, "held", {})
})

/** A silence in force and one that has ended. Returns their IDs. */
const silences = Effect.gen(function* () {
  const { ask } = yield* DocumentedServer
  const matchers = [{ field: "check_id", op: "=", value: "never-fails" }]
  const create = Effect.map(
    ask("POST", "/ops/v1/silences", UI_TOKEN, { matchers, for: "30d", comment: "for tests" }),
    ({ body }) => (body as { readonly id: string }).id,
  )
  const [active, ended] = [yield* create, yield* create]
  yield* ask("DELETE", `/ops/v1/silences/${ended}`, UI_TOKEN)
  return [active, ended]
})

/** An announcement that is open and one that has ended. Returns their IDs. */
const announcements = Effect.gen(function* () {
  const { ask } = yield* DocumentedServer
  const path = "/ops/v1/announcements"
  const create = Effect.map(
    ask("POST", path, UI_TOKEN, { page: "example", kind: "notice", title: "Hello", text: "World" }),
    ({ body }) => (body as { readonly id: string }).id,
  )
  const [open, ended] = [yield* create, yield* create]
  yield* ask("POST", `${path}/${ended}/end`, UI_TOKEN)
  return [open, ended]
})

/** Enrolments that nobody uses. Returns their IDs. */
const enrolments = Effect.gen(function* () {
  const { ask } = yield* DocumentedServer
  const create = Effect.map(
    ask("POST", "/ops/v1/enrolments", UI_TOKEN, {}),
    ({ body }) => (body as { readonly id: string }).id,
  )
  return [yield* create, yield* create]
})

/**
 * Rows of every kind: agents and keys in every state, checks of every status, open and resolved
 * incidents, and sent, failed and retried notifications. Returns their IDs.
 */
export const populatePools: Effect.Effect<Pools, never, DocumentedServer> = Effect.gen(function* () {
  const { ask } = yield* DocumentedServer
  const beat = (key: string, agent_id: string) => ask("POST", "/api/v1/heartbeat", key, heartbeat(agent_id))
  yield* beat(KEYS.accepted, "web")
  yield* beat(KEYS.rotating, "db")
  yield* beat(KEYS.blocked, "stranger")
  yield* asOperator("POST", "/agents/admission/accept-all")
  yield* asOperator("POST", "/agents/stranger/block")
  yield* beat(KEYS.replacement, "db")
  yield* beat(KEYS.pending, "guest")
  yield* ask("POST", "/api/v1/events", KEYS.accepted, { agent_id: "web", events: results })
  yield* ask("POST", "/api/v1/events", KEYS.rotating, {
    agent_id: "db",
    events: [result(7, "load", "critical", { incident_key: "shared" })],
  })
  const failed = idsAt("/notifiers/outbox?state=failed")
  yield* until(
    "a notification has failed",
    Effect.map(failed, (ids) => ids.length > 0),
  )
  yield* hold
  const dead = yield* failed
  const held = yield* idsAt("/notifiers/outbox?state=pending&sort=created_at")
  const resolved = yield* idsAt("/incidents?state=resolved")
  const outbox = yield* idsAt("/notifiers/outbox")
  const cursors = yield* Effect.forEach(
    [
      "/agents?limit=1",
      "/checks?limit=2",
      "/incidents?limit=1",
      "/events/query?limit=2",
      "/notifiers/outbox?limit=1",
    ],
    cursorAt,
  )
  const names = ["ann", "bob", "eve", "tom"]
  for (const name of names) {
    yield* ask("POST", "/ops/v1/operators", UI_TOKEN, { name, role: "read" })
    yield* ask("POST", "/ops/v1/integrations", UI_TOKEN, { name, kind: "ping" })
  }
  const checks = ["fine", "disk", "load", "odd", "brief"]
  // A watch has the name of its check.
  for (const name of checks)
    yield* ask("POST", "/ops/v1/watches", UI_TOKEN, { name, dns: { name: "home.example" } })
  return {
    OperatorName: names,
    IntegrationName: names,
    EnrolmentId: yield* enrolments,
    name: names,
    AgentId: ["web", "db", "guest", "stranger"],
    CheckId: checks,
    EventId: results.map(({ event_id }) => event_id),
    IncidentId: [...(yield* idsAt("/incidents")), ...resolved, ...resolved],
    // Only these can be replayed.
    OutboxId: [...outbox, ...outbox.flatMap(() => dead), ...held],
    SilenceId: yield* silences,
    AnnouncementId: yield* announcements,
    // A rota and a receiver.
    NotifierName: ["ann", "debug"],
    key_id: yield* idsAt("/agents/admission/blacklist"),
    cursor: cursors.flat(),
  }
})
