import { assert, describe, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { parseMatcher } from "@tocsin/contract/labels/Matcher"
import { findUnmatched } from "@tocsin/core/heart/overdue/unmatchedOverdue"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { keyOf } from "@tocsin/testing/samples"
import { Duration, Effect, Result } from "effect"
import { AGENT } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openIncidents, openTimeline } from "../service/Timeline.ts"

/** The agent `a`, what it declares, and minutes in which it is alive. */
const open = Effect.fnUntraced(function* (policy: object = {}) {
  const timeline = yield* openTimeline({ process: { keepsHouse: true } })
  const { after, agent, front } = timeline
  yield* front.policy.replace(compilePolicy(Result.getOrThrow(readPolicy(policy, ["webhook"])), ["webhook"]))
  yield* settled
  const declare = (...checks: ReadonlyArray<object>) => {
    const request = Result.getOrThrow(decodeExpectationsRequest({ checks }))
    return Effect.andThen(front.ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request }), settled)
  }
  const alive = Effect.fnUntraced(function* (minutes: number) {
    for (let minute = 0; minute < minutes; minute++) {
      yield* agent().heartbeats
      yield* after("1 minute")
    }
  })
  return { ...timeline, alive, declare }
})

/** A job that must report every minute: it is overdue after three. */
const job = (check_id: string, incident?: "own" | "agent") => ({
  check_id,
  every: "1m",
  ...(incident !== undefined && { incident }),
})

describe("a job that stands alone", () => {
  it.effect("notifies although another one is late, and says what it reports once it is back", () =>
    Effect.gen(function* () {
      const { agent, alive, declare, incidents, outbox, service, webhook } = yield* open()
      yield* declare(job("backup", "own"), job("disk"))
      yield* alive(2)
      yield* declare(job("sync", "own"), job("load"))
      yield* alive(2)
      yield* incidents.areOpen("a/@overdue", "a/backup/@overdue")
      yield* alive(2)
      // The second late job notifies, and the second late check of the agent does not.
      yield* incidents.areOpen("a/sync/@overdue", "a/@overdue", "a/backup/@overdue")
      yield* webhook.has(
        "firing unknown a/backup/@overdue",
        "firing unknown a/@overdue",
        "firing unknown a/sync/@overdue",
      )
      yield* agent().reports({ check: "backup", status: "critical", output: "exit 1: no space left" })
      yield* incidents.areOpen("a/backup", "a/sync/@overdue", "a/@overdue")
      assert.deepInclude(
        outbox.items().find(({ event_type }) => event_type === "resolved"),
        { severity: "unknown" },
      )
      assert.deepStrictEqual(
        Array.from(service.rows().incidents.values()).find(({ state }) => state === "resolved")?.resolution,
        { reason: "reported", status: "critical", now: "exit 1: no space left" },
      )
      // That of the agent keeps the words of what was missed.
      yield* agent().reports({ check: "disk", status: "ok" }, { check: "load", status: "ok" })
      yield* incidents.areOpen("a/backup", "a/sync/@overdue")
      const resolved = outbox.items().filter(({ event_type }) => event_type === "resolved")
      assert.match(resolved[1]?.summary ?? "", /^late: (?:disk|load): (?:nothing since|never reported)/)
    }),
  )

  it.effect("has the incident that is stated when it becomes overdue; a change moves nothing", () =>
    Effect.gen(function* () {
      const { agent, alive, declare, incidents, service } = yield* open()
      const terms = () => service.rows().expectations.get("a/backup")
      yield* declare(job("backup"))
      yield* alive(1)
      const before = terms()?.expected_from
      yield* declare(job("backup", "own"))
      assert.strictEqual(terms()?.expected_from, before)
      yield* alive(3)
      yield* incidents.areOpen("a/backup/@overdue")
      yield* declare(job("backup", "agent"))
      yield* alive(1)
      yield* incidents.areOpen("a/backup/@overdue")
      yield* agent().reports({ check: "backup", status: "ok" })
      yield* incidents.areOpen()
      yield* alive(4)
      yield* incidents.areOpen("a/@overdue")
    }),
  )

  it.effect("stands alone with cron, also by a rule of the policy, unless that says otherwise", () =>
    Effect.gen(function* () {
      const cron = { cron: "* * * * *", tz: "UTC", grace: "1m" }
      const { agent, alive, declare, incidents } = yield* open({
        freshness: [
          { match: ["check_id = own"], ...cron },
          { match: ["check_id = shared"], ...cron, incident: "agent" },
          { match: ["check_id = stated"], every: "1m", incident: "own" },
        ],
      })
      const results = ["own", "shared", "stated"].map((check) => ({ check, status: "ok" as const }))
      yield* agent().reports(...results)
      yield* declare({ check_id: "declared", ...cron })
      yield* alive(6)
      yield* incidents.areOpen("a/declared/@overdue", "a/stated/@overdue", "a/@overdue", "a/own/@overdue")
    }),
  )

  it.effect("joins the incident of its agent where five stand alone, whatever other checks report", () =>
    Effect.gen(function* () {
      const { agent, after, declare, incidents } = yield* open()
      const alone = ["a", "b", "c", "d", "e"].map((name) => `job-${name}`)
      const disk = { check_id: "disk", every: "1h" }
      const reports = Effect.andThen(agent().reports({ check: "disk", status: "ok" }), after("1 minute"))
      yield* declare(...alone.map((name) => job(name, "own")), disk)
      yield* reports
      yield* declare(job("job-f", "own"))
      for (let minute = 0; minute < 4; minute++) yield* reports
      yield* incidents.areOpen("a/@overdue", ...alone.map((name) => `a/${name}/@overdue`).toReversed())
    }),
  )

  it.effect("is not what a matcher on its agent's overdue checks means: such a matcher is named", () =>
    Effect.gen(function* () {
      const { declare, front } = yield* open()
      const texts = [
        "incident_key = a/@overdue",
        "incident_key = b/@overdue",
        "incident_key glob ?/@overdue",
        "incident_key glob */@overdue",
        "incident_key glob a/*@overdue",
        "incident_key != a/@overdue",
        "check_id = a/@overdue",
      ]
      const placed = texts.map((text) => ({
        matcher: Result.getOrThrow(parseMatcher(text)),
        path: [text],
      }))
      const named = Effect.map(findUnmatched(front.storage, front.commits, placed), (found) =>
        found.flatMap(({ path }): ReadonlyArray<unknown> => path),
      )
      assert.deepStrictEqual(yield* named, [])
      yield* declare(job("backup", "own"))
      assert.deepStrictEqual(yield* named, [texts[0], texts[2]])
      yield* declare(job("backup", "own"), job("disk"))
      assert.deepStrictEqual(yield* named, [])
    }),
  )

  it.effect("is held and routed by its check and the check's labels, also in the incident of its agent", () =>
    Effect.gen(function* () {
      const { agent, alive, declare, front, webhook } = yield* open({
        routes: [{ match: ["label:team != ops"], to: ["webhook"] }],
      })
      const names = ["1", "2", "3", "4", "5", "6"]
      const silence = (text: string) =>
        front.operations.silence({
          matchers: [Result.getOrThrow(parseMatcher(text))],
          for: Duration.hours(1),
          comment: "known",
        })
      yield* silence("check_id = 2")
      yield* silence("check_id = 6")
      yield* silence("label:team = web")
      yield* declare(
        ...names.map((name) => ({ ...job(name, "own"), labels: { team: name === "3" ? "web" : "db" } })),
      )
      yield* agent().reports(...names.map((check) => ({ check, status: "ok" as const })))
      yield* alive(4)
      const keys = (yield* openIncidents(front)).map(({ incident_key }) => String(incident_key))
      assert.sameMembers(keys, ["a/@overdue", ...names.slice(0, 5).map((name) => `a/${name}/@overdue`)])
      yield* webhook.has(
        "firing unknown a/1/@overdue",
        "firing unknown a/4/@overdue",
        "firing unknown a/5/@overdue",
      )
    }),
  )
})
