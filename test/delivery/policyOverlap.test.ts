import { assert, it } from "@effect/vitest"
import { compilePolicy, type Policy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Duration, Effect, Result } from "effect"
import { AGENT, enroll, report } from "../service/agents.ts"
import { openService, type Process, whileTimePasses } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

const NAMES = ["chat", "pager"]

const policyOf = (document: object) => compilePolicy(Result.getOrThrow(readPolicy(document, NAMES)), NAMES)

const FORMER = policyOf({ routes: [{ to: ["chat"] }] })
const LATTER = policyOf({
  routes: [{ steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] }],
  freshness: [{ match: ["check_id glob backup*"], every: "10s" }],
})

/** A server, and one with another policy that is to replace it. */
const openBoth = Effect.gen(function* () {
  const service = yield* openService({ notifiers: NAMES, deadAfter: Duration.days(365) })
  const open = Effect.fnUntraced(function* (name: string, policy: Policy) {
    const process = yield* service.open(name, { keepsHouse: true, reports: true })
    yield* process.policy.replace(policy)
    return process
  })
  const old = yield* open("old", FORMER)
  yield* enroll(old, AGENT)
  const replacing = yield* open("replacing", LATTER)
  const after = (time: Duration.Input) => Effect.andThen(service.passes(time), settled)
  const turns = (process: Process, check: string, status: "ok" | "critical") =>
    Effect.andThen(Effect.orDie(report(process, [{ check, status }])), settled)
  const escalated = () =>
    service.receivers.arrivals.flatMap(({ notification: { cause, incident, receiver } }) =>
      cause === "escalation" ? [`${receiver} ${incident.incident_key}`] : [],
    )
  const expected = () => Array.from(service.rows().expectations.keys())
  return { old, replacing, after, turns, escalated, expected }
})

it.effect.each(["stops", "breaks off"] as const)(
  "incidents escalate, and checks are expected, of a server with another policy that %s",
  (end) =>
    Effect.gen(function* () {
      const { after, escalated, expected, old, replacing, turns } = yield* openBoth
      yield* after("1 minute")
      yield* turns(old, "disk", "critical")
      yield* turns(old, "backup", "ok")
      yield* turns(replacing, "load", "critical")
      yield* after("5 seconds")
      if (end === "stops") yield* whileTimePasses(old.close)
      else old.faults.isUnreachable = true
      yield* after("20 minutes")
      assert.sameMembers(escalated(), ["pager a/disk", "pager a/load"])
      assert.deepStrictEqual(expected(), ["a/backup"])
    }),
)
