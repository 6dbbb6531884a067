import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { lacking } from "../../scripts/programs.mjs"
import { enroll, report } from "../processes/Agent.ts"
import { operate, OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { openRingingFirefox, startAutopush } from "./RingingFirefox.ts"

type Environment = Readonly<Record<string, string>>

const KEYS = { SERVICE_SECRETS_KEY: "5a".repeat(32), SERVICE_LINK_KEY: "a5".repeat(32) }

/** The way of a person: from the button to the notification, its *Acknowledge*, and quiet. */
const walk = Effect.fnUntraced(function* (
  servers: number,
  storage: Effect.Effect<Environment, never, Scope.Scope>,
) {
  const autopush = yield* startAutopush
  const environment = {
    ...(yield* storage),
    SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
    SERVICE_PUSH_CONTACT: "mailto:ops@example.org",
    SERVICE_PUSH_SERVICES: autopush.origin,
    SERVICE_WATCH_LOOPBACK: "true",
  }
  const cwd = yield* scratchFolder
  const here = yield* startServer({ cwd, environment })
  const other = servers === 1 ? here : yield* startServer({ cwd, environment })
  const made = yield* operate(here, "POST", "/ops/v1/operators", { json: { name: "ann", role: "admin" } })
  const { token } = JSON.parse(made.text) as { readonly token: string }
  const itemsOf = (path: string) =>
    Effect.map(
      operate(here, "GET", path),
      (answer) => (JSON.parse(answer.text) as { readonly items: ReadonlyArray<unknown> }).items,
    )
  const { go, notices, press, run } = yield* openRingingFirefox(autopush.socket)
  const look = <A>(body: string) => Effect.promise(() => run<A>(body))
  const text = look<string>("return document.body.innerText")
  const says = (words: string) =>
    until(
      words,
      Effect.map(text, (all) => all.includes(words)),
      "2 minutes",
    )
  const click = (label: string) =>
    until(
      `the button ${label}`,
      look<boolean>(
        `const found = [...document.querySelectorAll("button")].find((each) => each.innerText.startsWith(${JSON.stringify(label)})); found?.click(); return found !== undefined`,
      ),
      "2 minutes",
    )
  const latest = (title: string, holds: (notice: Notices[number]) => boolean = () => true) =>
    until(
      `the notification ${title}`,
      Effect.map(notices, (all) => {
        const notice = all.at(-1)
        return notice?.title.startsWith(title) === true && holds(notice) && notice
      }),
      "2 minutes",
    )
  yield* Effect.promise(() => go(here.baseUrl))
  yield* look(`sessionStorage.setItem("tocsin.token", ${JSON.stringify(token)})`)
  yield* Effect.promise(() => go(`${here.baseUrl}/?signed-in#/receivers`))
  yield* says("Browsers")
  yield* click("Notify this browser")
  yield* latest("TEST")
  yield* says("This browser has shown the test.")
  yield* click("Make the receiver browser_ann")
  yield* says("browser_ann")

  yield* until(
    "the other server has the receiver",
    Effect.map(operate(other, "GET", "/ops/v1/policy"), ({ text: policy }) =>
      JSON.stringify(JSON.parse(policy).receivers).includes("browser_ann"),
    ),
    "1 minute",
  )

  // The other server opens the incident, and either of them rings.
  const agent = yield* enroll(other, "web-1")
  yield* report(other, agent, { check_id: "disk", status: "critical" })
  const rung = yield* latest("CRITICAL: web-1/disk")
  assert.isTrue(rung.requireInteraction)
  assert.isFalse(rung.silent)
  assert.deepStrictEqual(
    rung.actions.map(({ action }) => action),
    ["acknowledge", "open"],
  )
  yield* press("acknowledge")
  const said = yield* latest("CRITICAL: web-1/disk", ({ text: body }) =>
    body.startsWith("Acknowledged until"),
  )
  assert.strictEqual(said.name, rung.name)
  assert.isTrue(said.silent)
  assert.deepStrictEqual(
    said.actions.map(({ action }) => action),
    ["open"],
  )
  assert.lengthOf(yield* itemsOf("/ops/v1/incidents?acknowledged=true"), 1)

  yield* report(other, agent, { check_id: "disk", status: "ok" })
  const quiet = yield* latest("RESOLVED: web-1/disk")
  assert.strictEqual(quiet.name, rung.name)
  assert.isTrue(quiet.silent)

  // Signing out takes the browser away.
  yield* click("Sign out")
  yield* until(
    "the browser has left",
    Effect.map(itemsOf("/ops/v1/subscriptions"), ({ length }) => length === 0),
    "1 minute",
  )
})

type Notices = Effect.Success<Effect.Success<ReturnType<typeof openRingingFirefox>>["notices"]>

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
})
