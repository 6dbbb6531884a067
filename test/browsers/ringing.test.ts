import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { lacking } from "../../scripts/programs.mjs"
import { enroll, report } from "../processes/Agent.ts"
import { operate, OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { type Notice, openRingingFirefox, startAutopush } from "./RingingFirefox.ts"

type Environment = Readonly<Record<string, string>>

const KEYS = { SERVICE_SECRETS_KEY: "5a".repeat(32), SERVICE_LINK_KEY: "a5".repeat(32) }

/** A Firefox, its push service, and the operator whose it is. */
const open = Effect.fnUntraced(function* (storage: Environment = {}) {
  const autopush = yield* startAutopush
  const environment = {
    ...storage,
    SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
    SERVICE_PUSH_CONTACT: "mailto:ops@example.org",
    SERVICE_PUSH_SERVICES: autopush.origin,
    SERVICE_WATCH_LOOPBACK: "true",
  }
  const launched = { cwd: yield* scratchFolder, environment }
  const here = yield* startServer(launched)
  const made = yield* operate(here, "POST", "/ops/v1/operators", { json: { name: "ann", role: "admin" } })
  const { token } = JSON.parse(made.text) as { readonly token: string }
  return { autopush, here, launched, token, ...(yield* openRingingFirefox(autopush.socket)) }
})

const itemsOf = (server: ServerProcess, path: string) =>
  Effect.map(
    operate(server, "GET", path),
    ({ text }) =>
      (JSON.parse(text) as { readonly items: ReadonlyArray<Readonly<Record<string, unknown>>> }).items,
  )

const areLeft = (server: ServerProcess, count: number) =>
  until(
    `${count} browsers are left`,
    Effect.map(itemsOf(server, "/ops/v1/subscriptions"), ({ length }) => length === count),
  )

const buttonsOf = ({ actions }: Notice) => actions.map(({ action }) => action)

/** The way of a person: from the button to the notification, its *Acknowledge*, and quiet. */
const walk = Effect.fnUntraced(function* (
  servers: number,
  storage: Effect.Effect<Environment, never, Scope.Scope>,
) {
  const { click, go, here, latest, launched, look, press, says, token } = yield* open(yield* storage)
  const other = servers === 1 ? here : yield* startServer(launched)
  yield* go(here.baseUrl)
  yield* look(`sessionStorage.setItem("tocsin.token", ${JSON.stringify(token)})`)
  yield* go(`${here.baseUrl}/?signed-in#/receivers`)
  yield* says("Browsers")
  yield* click("Notify this browser")
  yield* latest("TEST")
  yield* says("This browser has shown the test.")
  yield* click("Make the receiver browser_ann")
  yield* says("browser_ann")

  yield* until(
    "the other server has the receiver",
    Effect.map(operate(other, "GET", "/ops/v1/policy"), ({ text }) =>
      JSON.stringify(JSON.parse(text).receivers).includes("browser_ann"),
    ),
  )

  // The other server opens the incident, and either of them rings.
  const agent = yield* enroll(other, "web-1")
  yield* report(other, agent, { check_id: "disk", status: "critical" })
  const rung = yield* latest("CRITICAL: web-1/disk")
  assert.isTrue(rung.requireInteraction)
  assert.isFalse(rung.silent)
  assert.deepStrictEqual(buttonsOf(rung), ["acknowledge", "open"])
  yield* press("acknowledge")
  const said = yield* latest("CRITICAL: web-1/disk", "Acknowledged until")
  assert.strictEqual(said.name, rung.name)
  assert.isTrue(said.silent)
  assert.deepStrictEqual(buttonsOf(said), ["open"])
  assert.lengthOf(yield* itemsOf(here, "/ops/v1/incidents?acknowledged=true"), 1)

  yield* report(other, agent, { check_id: "disk", status: "ok" })
  const quiet = yield* latest("RESOLVED: web-1/disk")
  assert.strictEqual(quiet.name, rung.name)
  assert.isTrue(quiet.silent)

  // Signing out takes the browser away.
  yield* click("Sign out")
  yield* areLeft(here, 0)
})

const POLICY = {
  receivers: { phone: { kind: "messenger", type: "browser", operator: "ann", acknowledge: "1h" } },
  routes: [{ to: ["phone"] }],
}

/** All that may come between the notification and its *Acknowledge*, and the ways to leave. */
const meets = Effect.gen(function* () {
  const { autopush, click, go, here, latest, launched, press, says } = yield* open()
  yield* operate(here, "PUT", "/ops/v1/settings/public_url", { json: { value: here.baseUrl } })
  const subscribe = Effect.gen(function* () {
    const { text } = yield* operate(here, "POST", "/ops/v1/operators/ann/invitations", { json: {} })
    const { id, token } = JSON.parse(text) as { readonly id: string; readonly token: string }
    yield* go(`${here.baseUrl}/?invited=${id}#/invitation/${token}`)
    yield* says("You are invited as ann")
    yield* click("Sign in")
    yield* says("Sign out")
    yield* go(`${here.baseUrl}/?signed-in=${id}#/receivers`)
    yield* click("Notify this browser")
    yield* latest("TEST")
    yield* says("This browser has shown the test.")
  })
  yield* subscribe
  yield* operate(here, "PUT", "/ops/v1/policy", { text: JSON.stringify(POLICY) })
  const agent = yield* enroll(here, "web-1")
  const turns = (check_id: string, status: CheckStatus) => report(here, agent, { check_id, status })

  // A worse one takes its place.
  yield* turns("disk", "warning")
  const first = yield* latest("WARNING: web-1/disk")
  assert.isFalse(first.requireInteraction)
  yield* turns("disk", "critical")
  const second = yield* latest("CRITICAL: web-1/disk")
  assert.strictEqual(second.name, first.name)
  assert.isTrue(second.requireInteraction)

  // Without a server, nothing is known to be acknowledged, and one may press again.
  yield* here.stop
  yield* press("acknowledge")
  const failed = yield* latest("CRITICAL: web-1/disk", "No answer came. Nothing is known to be acknowledged.")
  assert.deepStrictEqual(buttonsOf(failed), ["acknowledge", "open"])
  const again = yield* startServer({
    ...launched,
    environment: { ...launched.environment, SERVICE_PORT: String(here.port) },
  })
  yield* press("acknowledge")
  assert.deepStrictEqual(buttonsOf(yield* latest("CRITICAL: web-1/disk", "Acknowledged until")), ["open"])

  // Somebody else was faster.
  yield* turns("load", "critical")
  yield* latest("CRITICAL: web-1/load")
  const [load] = yield* itemsOf(again, "/ops/v1/incidents?acknowledged=false")
  yield* operate(again, "PUT", `/ops/v1/incidents/${String(load?.["id"])}/acknowledgement`, {
    json: { for: "1h" },
  })
  yield* press("acknowledge")
  yield* latest("CRITICAL: web-1/load", "It is acknowledged already, by ")

  // A week passes, by the times of all messages.
  yield* turns("week", "critical")
  yield* latest("CRITICAL: web-1/week")
  yield* until(
    "its message is sent",
    Effect.map(itemsOf(again, "/api/v1/notifiers/outbox"), (all) =>
      all.every(({ state }) => state === "sent"),
    ),
  )
  const database = new DatabaseSync(join(launched.cwd, "data", "tocsin.db"), { timeout: 10_000 })
  database.exec(`UPDATE outbox SET updated_at = updated_at - ${7 * 86_400_000_000}`)
  database.close()
  yield* press("acknowledge")
  const old = yield* latest(
    "CRITICAL: web-1/week",
    "The message is older than a week. Nothing is acknowledged.",
  )
  assert.deepStrictEqual(buttonsOf(old), ["open"])
  assert.lengthOf(yield* itemsOf(again, "/ops/v1/incidents?acknowledged=false"), 1)

  // Messages are lost while it becomes worse, and while it resolves.
  yield* turns("mail", "warning")
  yield* latest("WARNING: web-1/mail")
  autopush.state.isLosing = true
  const lost = autopush.state.taken
  const isLost = (count: number) =>
    until(
      `${count} messages are lost`,
      Effect.sync(() => autopush.state.taken === lost + count),
    )
  yield* turns("mail", "critical")
  yield* isLost(1)
  yield* press("acknowledge")
  yield* latest("WARNING: web-1/mail", "Nothing is acknowledged: the incident is worse now.")
  autopush.state.isLosing = false
  yield* turns("queue", "critical")
  yield* latest("CRITICAL: web-1/queue")
  autopush.state.isLosing = true
  yield* turns("queue", "ok")
  yield* isLost(3)
  yield* press("acknowledge")
  const ended = yield* latest("CRITICAL: web-1/queue", "The incident of this message has resolved.")
  assert.deepStrictEqual(buttonsOf(ended), ["open"])
  autopush.state.isLosing = false

  // It leaves with the session in which it was added, and with its operator.
  const [session] = yield* itemsOf(again, "/ops/v1/sessions")
  yield* operate(again, "DELETE", `/ops/v1/sessions/${String(session?.["id"])}`)
  yield* areLeft(again, 0)
  yield* subscribe
  yield* areLeft(again, 1)
  const { taken } = autopush.state
  yield* operate(again, "DELETE", "/ops/v1/operators/ann")
  yield* areLeft(again, 0)
  yield* turns("last", "critical")
  yield* until(
    "the last incident is there",
    Effect.map(itemsOf(again, "/ops/v1/incidents"), (all) =>
      all.some((each) => each["incident_key"] === "web-1/last"),
    ),
  )
  assert.strictEqual(autopush.state.taken, taken)
})

const missing = lacking("firefox-esr")

describe.skipIf(missing !== undefined)(`a real Firefox rings${skippedFor(missing)}`, () => {
  it.live("with SQLite", () => walk(1, Effect.succeed({})), 240_000)

  it.live(
    "with PostgreSQL and two servers",
    () =>
      walk(
        2,
        Effect.map(scratchPostgres, ({ url }) => ({ ...KEYS, DATABASE_URL: Redacted.value(url) })),
      ),
    240_000,
  )

  it.live("and says what happened before its button was pressed", () => meets, 900_000)
})
