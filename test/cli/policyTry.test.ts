import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { report } from "../processes/Agent.ts"
import { addIntegration, call, incidentsOf, operate, OPERATOR_TOKEN, outboxOf } from "../processes/api.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { inTurn } from "../properties/atLength.ts"
import { until } from "../processes/until.ts"
import { populateTables } from "./populateTables.ts"
import { jsonOf, places, serverAt, tocsin } from "./tocsin.ts"

interface Comparison {
  readonly messages: { readonly in_force: number; readonly tried: number }
  readonly results: number
  readonly held: ReadonlyArray<{ readonly held_by: ReadonlyArray<string>; readonly firings: number }>
}

/** The calculation reads lists, which other tests compare: a run has that on SQLite. */
const sample = inTurn(places, 0)

describe.concurrent.each(sample)("tocsin policy try beside a running server on $name", ({ make }) => {
  it.live("counts what the server sent, and what another policy would have", () =>
    Effect.gen(function* () {
      const place = yield* make
      const server = yield* startServer(serverAt(place))
      const { first, second } = yield* populateTables(server)
      const [open] = (yield* incidentsOf(server)).filter(({ state }) => state === "open")
      yield* operate(server, "PUT", `/ops/v1/incidents/${open?.id}/acknowledgement`, {
        json: { for: "1h" },
      })
      yield* operate(server, "PUT", "/ops/v1/agents/web-1/expectations", {
        token: first.key,
        json: { checks: [{ check_id: "tape", labels: { team: "night" } }] },
      })
      yield* report(server, first, { check_id: "tape", status: "critical" })
      yield* report(server, first, { check_id: "tape", status: "ok" })
      const key = yield* addIntegration(server, { name: "prometheus", kind: "alertmanager" })
      for (const endsAt of ["2999-01-01T00:00:00Z", "2000-01-01T00:00:00Z"])
        yield* operate(server, "POST", "/in/alertmanager/api/v2/alerts", {
          token: key,
          json: [{ labels: { alertname: "Load", team: "night" }, endsAt }],
        })
      const shared = { check_id: "site", incident_key: open?.incident_key ?? "" } as const
      yield* report(server, first, { ...shared, status: "critical" })
      yield* report(server, first, { ...shared, status: "ok" })
      yield* report(server, second, { ...shared, status: "ok" })
      yield* operate(server, "POST", "/ops/v1/silences", {
        json: { matchers: [{ field: "check_id", op: "=", value: "quiet" }], for: "1h", comment: "Tests" },
      })
      yield* report(server, second, { check_id: "quiet", status: "critical" })
      yield* report(server, second, { check_id: "quiet", status: "ok" })
      const quiet = (yield* incidentsOf(server)).find(({ incident_key }) => incident_key === "web-2/quiet")
      const items = yield* until(
        "all notifications to be settled",
        Effect.map(
          outboxOf(server),
          (found) =>
            found.every(({ state }) => state === "sent" || state === "discarded") &&
            found.filter(({ incident_id }) => incident_id !== quiet?.id),
        ),
      )
      writeFileSync(join(place.cwd, "all.yaml"), "routes: []")
      writeFileSync(join(place.cwd, "patient.yaml"), "routes: [{ after: 10m }]")

      const same = (yield* jsonOf(place, "policy", "try", "all.yaml")) as Comparison
      // The trial delivers at once. In the server, a firing that was overtaken has no resolution.
      const notified = new Set(items.map(({ incident_id }) => incident_id))
      const resolved = (yield* incidentsOf(server)).filter(
        ({ id, state }) => state === "resolved" && notified.has(id),
      )
      const firings = items.filter(({ event_type }) => event_type === "firing")
      const count = firings.length + resolved.length
      assert.isAbove(count, 3)
      assert.deepStrictEqual(same.messages, { in_force: count, tried: count })
      const silenced = { receiver: "debug", held_by: ["silence"], outcome: "resolved", firings: 1 }
      assert.deepStrictEqual(same.held, [silenced])
      const day = new Date(Date.now() - 86_400_000).toISOString()
      const patient = (yield* jsonOf(place, "policy", "try", "patient.yaml", "--since", day)) as Comparison
      assert.deepStrictEqual(patient.messages, { in_force: count, tried: 0 })
      assert.includeMembers(
        patient.held.flatMap(({ held_by }) => held_by),
        ["after"],
      )
      const ofNight =
        "routes: [{ match: ['label:team = night'], after: 10m }, { match: ['label:team != night'] }]"
      writeFileSync(join(place.cwd, "night.yaml"), ofNight)
      const night = (yield* jsonOf(place, "policy", "try", "night.yaml")) as Comparison
      const ofTapeAndAlert = { receiver: "debug", held_by: ["after"], outcome: "resolved", firings: 2 }
      assert.sameDeepMembers([...night.held], [silenced, ofTapeAndAlert])
      const none = (yield* jsonOf(place, "policy", "try", "patient.yaml", "--since", "1ms")) as Comparison
      assert.deepStrictEqual(none.messages, { in_force: 0, tried: 0 })

      const ofApi = yield* operate(server, "POST", "/ops/v1/policy/try?since=1d", {
        json: { routes: [{ after: "10m" }] },
      })
      const answer = Object(JSON.parse(ofApi.text))
      assert.strictEqual(Date.parse(answer.until) - Date.parse(answer.since), 86_400_000)
      const { in_force, until: _until, since: _since, ...expected } = Object(patient)
      assert.strictEqual(in_force, "no policy")
      assert.deepInclude(answer, expected)
      assert.match(answer.in_force, /^[0-9a-f]{64}$/)
      const wrong = { json: { routes: [{ to: 1 }] }, token: OPERATOR_TOKEN }
      const invalid = yield* Effect.orDie(call(server, "POST", "/ops/v1/policy/try", wrong))
      assert.strictEqual(invalid.status, 400)
      assert.include(invalid.text, "the policy is not valid: line 1: routes[0].to")

      const { code, stderr, stdout } = yield* tocsin(place, "policy", "try", "patient.yaml")
      assert.match(stdout, new RegExp(`^0 messages instead of ${count} from `))
      assert.match(stdout, /^debug +after +\d+ +not sent: the incident resolved first$/m)
      assert.match(stdout, /^In force: no policy\. \d+ stored results, the oldest of /m)
      assert.match(stdout, /^- freshness: /m)
      assert.deepStrictEqual([code, stderr], [0, ""])
      yield* jsonOf(place, "policy", "apply", "patient.yaml")
      const beside = Object(yield* jsonOf(place, "policy", "try", "all.yaml"))
      assert.deepStrictEqual(beside.messages, { in_force: 0, tried: count })
      assert.strictEqual(beside.in_force, "the stored policy")
      const missing = yield* tocsin(place, "policy", "try", "none.yaml")
      assert.strictEqual(missing.code, 2)
    }),
  )
})
