import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { type RequestKindName, requestKindNames } from "@tocsin/contract/integrations/integrationKinds"
import { Effect } from "effect"
import { monitPost } from "../fuzz/senders.ts"
import { addIntegration, call, incidentsOf, operate } from "../processes/api.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { inTurn } from "../properties/atLength.ts"
import { jsonOf, places, serverAt, tocsin } from "./tocsin.ts"

type Request = readonly [method: string, path: string, body?: object | string]

const load = (status: "firing" | "resolved") => ({ labels: { alertname: "Load", team: "db" }, status })

const ICINGA = "/v1/actions/process-check-result?service=db1!disk"
const nrdp = (state: number) =>
  `/?cmd=submitcheck&json=${encodeURIComponent(
    JSON.stringify({ checkresults: [{ hostname: "db1", servicename: "disk", state }] }),
  )}`

/** Two requests of each kind of sender about one check: it is bad, and it is well again. */
const STORIES: Readonly<Record<RequestKindName, readonly [bad: Request, well: Request]>> = {
  ping: [
    ["GET", "/backup/fail"],
    ["GET", "/backup"],
  ],
  push: [
    ["GET", "/web?status=down"],
    ["GET", "/web"],
  ],
  alertmanager: [
    ["POST", "/api/v2/alerts", [load("firing")]],
    ["POST", "/api/v2/alerts", [{ ...load("resolved"), endsAt: "2000-01-01T00:00:00Z" }]],
  ],
  webhook: [
    ["POST", "", { version: "4", alerts: [load("firing")] }],
    ["POST", "", { version: "4", alerts: [load("resolved")] }],
  ],
  nrdp: [
    ["GET", nrdp(2)],
    ["GET", nrdp(0)],
  ],
  icinga: [
    ["POST", ICINGA, { exit_status: 2, plugin_output: "full" }],
    ["POST", ICINGA, { exit_status: 0, plugin_output: "well" }],
  ],
  sentry: [
    ["GET", "/api/1/cron/nightly?status=error"],
    ["GET", "/api/1/cron/nightly?status=ok"],
  ],
  monit: [
    ["POST", "/collector", monitPost("sshd", 512)],
    ["POST", "/collector", monitPost("sshd", 0)],
  ],
  pagerduty: [
    ["POST", "/v2/enqueue", { event_action: "trigger", dedup_key: "a", payload: { summary: "full" } }],
    ["POST", "/v2/enqueue", { event_action: "resolve", dedup_key: "a" }],
  ],
  opsgenie: [
    ["POST", "/v2/alerts", { alias: "a", message: "full" }],
    ["POST", "/v2/alerts/a/close?identifierType=alias", {}],
  ],
}

const play = Effect.fnUntraced(function* (server: ServerProcess, kind: RequestKindName) {
  const key = yield* addIntegration(server, { name: kind, kind })
  for (const [method, path, body] of STORIES[kind]) {
    const given = typeof body === "string" ? { text: body } : { json: body }
    const answer = yield* Effect.orDie(call(server, method, `/in/${kind}/${key}${path}`, given))
    assert.isBelow(answer.status, 300, answer.text)
  }
})

interface Trial {
  readonly results: number
  readonly messages: { readonly in_force: number; readonly tried: number }
}

describe.concurrent.each(inTurn(places, 1))("results of integrations on $name", ({ make }) => {
  it.live("are played by simulate and policy try like all others, with the labels as they are now", () =>
    Effect.gen(function* () {
      const place = yield* make
      const server = yield* startServer(serverAt(place))
      const kinds = requestKindNames
      for (const kind of kinds) yield* play(server, kind)
      const keys = (yield* incidentsOf(server)).map(({ incident_key }) => incident_key).toSorted()
      assert.strictEqual(keys.length, kinds.length)

      const { text } = yield* operate(server, "GET", "/api/v1/events/query?limit=500")
      writeFileSync(join(place.cwd, "history.jsonl"), `${text}\n`)
      const played = Object(yield* jsonOf(place, "simulate", "history.jsonl"))
      const incidents: ReadonlyArray<{ readonly incident_key: string; readonly state: string }> =
        played.incidents
      assert.deepStrictEqual(incidents.map(({ incident_key }) => incident_key).toSorted(), keys)
      assert.isTrue(incidents.every(({ state }) => state === "resolved"))
      assert.strictEqual(played.notifications.length, 2 * kinds.length)
      assert.strictEqual(played.refused.length, 0)

      /** The messages by a policy that holds the alerts and pings of one matcher until they are over. */
      const tried = Effect.fnUntraced(function* (held: string) {
        const not = held.replace(" = ", " != ")
        const file = "held.yaml"
        writeFileSync(
          join(place.cwd, file),
          `routes: [{ match: ['${held}'], after: 10m }, { match: ['${not}'] }]`,
        )
        const { messages, results } = (yield* jsonOf(place, "policy", "try", file)) as Trial
        return [messages.in_force, messages.tried, results]
      })
      const [count, least] = [2 * kinds.length, 2 * (kinds.length - 1)]
      // One decision gives results of every kind this label.
      for (const kind of inTurn(kinds, 0))
        assert.deepStrictEqual(yield* tried(`label:integration = ${kind}`), [count, least, count], kind)
      assert.deepStrictEqual(yield* tried("label:team = db"), [count, count - 4, count])
      if (place.environment["DATABASE_URL"] !== undefined) return
      // A changed label of an alert makes another check of it: only the row can show which ones count.
      const database = new DatabaseSync(join(place.cwd, "data", "tocsin.db"))
      database.exec(`UPDATE expectation SET labels = '{"team":"web"}' WHERE agent_id = 'webhook'`)
      database.close()
      assert.deepStrictEqual(yield* tried("label:team = db"), [count, count - 2, count])
    }),
  )

  it.live("are not all of what a sender has: the doctor and the list say what is missing", () =>
    Effect.gen(function* () {
      const place = yield* make
      const server = yield* startServer(serverAt(place))
      const key = yield* addIntegration(server, { name: "hooks", kind: "webhook" })
      // Alertmanager 0.28 with max_alerts: 1.
      const json = { version: "4", status: "resolved", alerts: [load("firing")], truncatedAlerts: 2 }
      const answer = yield* Effect.orDie(call(server, "POST", `/in/webhook/${key}`, { json }))
      assert.strictEqual(answer.status, 422)
      const said = /the sender left out alerts \(2\): set max_alerts of its webhook to 0/
      assert.match((yield* tocsin(place, "doctor")).stdout, said)
      assert.match((yield* tocsin(place, "integrations", "list")).stdout, said)
      const [incident] = yield* incidentsOf(server)
      assert.strictEqual(incident?.state, "open")
    }),
  )
})
