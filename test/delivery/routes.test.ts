import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { assert, describe, it } from "@effect/vitest"
import { heartbeatOf, keyOf } from "@tocsin/testing/samples"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, enroll, report } from "../service/agents.ts"
import { openService, type Process, type Service } from "../service/Service.ts"

const NAMES = ["chat", "mail", "pager"]

const policyOf = (document: object) => compilePolicy(Result.getOrThrow(readPolicy(document, NAMES)), NAMES)

/** A service whose policy has these routes, and what it enqueues. */
const routed = Effect.fnUntraced(function* (routes: ReadonlyArray<object>, { keepsHouse = false } = {}) {
  const service = yield* openService({ notifiers: NAMES, deadAfter: Duration.days(365) })
  const process = yield* service.open("a", { delivers: false, keepsHouse })
  yield* process.policy.replace(policyOf({ routes }))
  yield* enroll(process, AGENT)
  return { service, process }
})

const firings = (service: Service): ReadonlyArray<string> =>
  Array.from(service.rows().outbox.values(), ({ notifier, severity }) => `${notifier} ${severity}`).toSorted()

const label = (process: Process, agent: AgentId, labels: Readonly<Record<string, string>>) =>
  Effect.flatMap(Instant.now, (observed_at) =>
    process.ingest.heartbeat(keyOf(agent), heartbeatOf(agent, { observed_at, labels })),
  )

const disk = (status: "ok" | "warning" | "critical", check = "disk") => ({ check, status }) as const

describe("a notification goes to", () => {
  it.effect("every receiver, where no route matches", () =>
    Effect.gen(function* () {
      const { service, process } = yield* routed([{ match: ["check_id = other"], to: ["pager"] }])
      yield* report(process, [disk("critical")])
      assert.deepStrictEqual(firings(service), ["chat critical", "mail critical", "pager critical"])
    }),
  )

  it.effect("the receivers of all matching routes, first steps only", () =>
    Effect.gen(function* () {
      const { service, process } = yield* routed([
        { match: ["check_id glob dis?"], to: ["chat"] },
        { steps: [{ to: ["mail"] }, { after: "15m", to: ["pager"] }] },
        { match: ["severity = warning"], to: ["pager"] },
      ])
      yield* report(process, [disk("critical")])
      assert.deepStrictEqual(firings(service), ["chat critical", "mail critical"])
    }),
  )

  it.effect("the receivers for the hostname and labels of the member that joined", () =>
    Effect.gen(function* () {
      const { service, process } = yield* routed([
        { match: ["label:team = db", "hostname glob *.example.org"], to: ["pager"] },
        { match: ["label:team != db"], to: ["chat"] },
      ])
      const db = AgentId.make("db")
      yield* enroll(process, db)
      yield* TestClock.adjust("1 second")
      yield* label(process, db, { team: "db" })
      const shared = { key: "shared" }
      yield* report(process, [{ ...disk("warning"), ...shared }])
      assert.deepStrictEqual(firings(service), ["chat warning"])
      yield* report(process, [{ ...disk("warning"), ...shared }], db)
      assert.deepStrictEqual(firings(service), ["chat warning", "pager warning"])
    }),
  )

  it.effect("the receivers for other labels of a member within minutes, each time", () =>
    Effect.gen(function* () {
      const { service, process } = yield* routed(
        [
          { match: ["label:team = db"], to: ["pager"] },
          { match: ["label:team = web"], to: ["mail"] },
          { match: ["label:env = prod"], to: ["chat"] },
        ],
        { keepsHouse: true },
      )
      yield* label(process, AGENT, { env: "prod" })
      yield* report(process, [disk("critical")])
      yield* service.passes("1 minute")
      assert.deepStrictEqual(firings(service), ["chat critical"])
      yield* label(process, AGENT, { team: "db" })
      yield* service.passes("6 minutes")
      assert.deepStrictEqual(firings(service), ["chat critical", "pager critical"])
      yield* label(process, AGENT, { team: "web" })
      yield* service.passes("6 minutes")
      assert.deepStrictEqual(firings(service), ["chat critical", "mail critical", "pager critical"])
    }),
  )

  it.effect("the receivers of the severity that an incident worsens to", () =>
    Effect.gen(function* () {
      const { service, process } = yield* routed([
        { match: ["severity = warning"], to: ["chat"] },
        { match: ["severity = critical"], to: ["pager"] },
      ])
      yield* report(process, [disk("warning")])
      yield* TestClock.adjust("1 second")
      yield* report(process, [disk("critical")])
      assert.deepStrictEqual(firings(service), ["chat warning", "pager critical"])
    }),
  )

  it.effect("the receivers of the policy that is in force when its incident opens", () =>
    Effect.gen(function* () {
      const { service, process } = yield* routed([{ to: ["chat"] }])
      yield* report(process, [disk("critical")])
      yield* process.policy.replace(policyOf({ routes: [{ to: ["mail"] }] }))
      yield* report(process, [disk("critical", "memory")])
      assert.deepStrictEqual(firings(service), ["chat critical", "mail critical"])
    }),
  )
})
