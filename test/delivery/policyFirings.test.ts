import { assert, describe, it } from "@effect/vitest"
import { acknowledge } from "@tocsin/core/heart/acknowledgements/acknowledge"
import * as Instant from "@tocsin/contract/formats/Instant"
import { countFirings } from "@tocsin/core/heart/evaluation/evaluateIncidents"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { signedBy } from "@tocsin/testing/signedBy"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "@tocsin/testing/forAll"
import { Duration, Effect, Result } from "effect"
import * as fc from "fast-check"
import { AGENT, enroll, report } from "../service/agents.ts"
import { openService } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

const NAMES = ["chat", "mail", "pager"]
const RUNS = 60

const policyOf = (document: object) => compilePolicy(Result.getOrThrow(readPolicy(document, NAMES)), NAMES)

const match = ["severity = critical"]
const windows = [
  { name: "odd", cron: "* * * * *", tz: "Etc/UTC", for: "1h", match: ["check_id glob check-[13]"] },
]
const POLICIES: ReadonlyArray<object> = [
  {},
  { routes: [{ to: ["chat"] }] },
  { routes: [{ to: ["chat", "pager"] }] },
  { routes: [{ match, to: ["pager"] }] },
  { routes: [{ after: "3m", to: ["mail"] }, { to: ["chat"] }] },
  { routes: [{ after: "1h", to: ["mail"] }] },
  { routes: [{ steps: [{ to: ["chat"] }, { after: "3m", to: ["pager"] }, { after: "2h", to: ["mail"] }] }] },
  { routes: [{ remind: "15m", to: ["chat"] }] },
  { routes: [{ to: ["chat", "mail"] }], windows },
]

interface Incident {
  readonly status: "warning" | "critical"
  readonly isLoud: boolean
  readonly isAcknowledged: boolean
  readonly isSilenced: boolean
}

const incident: fc.Arbitrary<Incident> = fc.record({
  status: fc.constantFrom("warning", "critical"),
  isLoud: fc.boolean(),
  isAcknowledged: fc.boolean(),
  isSilenced: fc.boolean(),
})

/** Incidents that opened under one policy, another policy, and how long the incidents were open before it. */
interface Scenario {
  readonly incidents: ReadonlyArray<Incident>
  readonly before: object
  readonly next: object
  readonly minutes: number
}

const scenario: fc.Arbitrary<Scenario> = fc.record({
  incidents: fc.array(incident, { maxLength: 5 }),
  before: fc.constantFrom(...POLICIES),
  next: fc.constantFrom(...POLICIES),
  minutes: fc.constantFrom(0, 5, 20),
})

const play = Effect.fnUntraced(function* ({ before, incidents, minutes, next }: Scenario) {
  // Agents send no heartbeats here.
  const service = yield* openService({ notifiers: NAMES, deadAfter: Duration.days(365) })
  const process = yield* service.open("first", { keepsHouse: true })
  yield* process.policy.replace(policyOf(before))
  yield* enroll(process, AGENT)
  for (const [n, { isLoud: loud, isSilenced, status }] of incidents.entries()) {
    if (isSilenced)
      yield* process.operations.silence({
        matchers: [{ field: "check_id", op: "=", value: `check-${n}` }],
        for: Duration.hours(1),
        comment: "maintenance",
      })
    yield* report(process, [{ check: `check-${n}`, status, loud }])
  }
  yield* settled
  for (const { id, incident_key } of service.rows().incidents.values()) {
    if (incidents[Number(incident_key.at(-1))]?.isAcknowledged !== true) continue
    const until = Instant.plus(yield* Instant.now, Duration.hours(1))
    yield* process.commits.transact(
      acknowledge({ id, note: undefined, until, severity: undefined }, signedBy("eva")),
    )
  }
  yield* service.passes(Duration.minutes(minutes))
  yield* settled
  const stored = Array.from(service.rows().outbox.values())
  const policy = policyOf(next)
  const counts = yield* countFirings(process.storage, process.commits, {
    policy: () => policy,
    staleAfter: process.rules.staleAfter,
  })
  assert.deepStrictEqual(Array.from(service.rows().outbox.values()), stored)
  const arrived = service.receivers.arrivals.length
  yield* process.policy.replace(policy)
  yield* service.passes("20 seconds")
  yield* settled
  const sent = new Map<string, number>()
  for (const { notification } of service.receivers.arrivals.slice(arrived))
    sent.set(notification.receiver, (sent.get(notification.receiver) ?? 0) + 1)
  assert.deepStrictEqual(new Map(counts.map(({ count, receiver }) => [receiver, count])), sent)
  return counts
})

describe("the firings that a policy would send immediately", () => {
  it.effect(
    "are those that it sends once it is in force, and counting them writes nothing",
    () => forAll(scenario, { runs: RUNS }, (drawn) => Effect.asVoid(Effect.scoped(play(drawn)))),
    PROPERTY_TIMEOUT_MILLIS,
  )

  it.effect("are those of open incidents that nothing holds, the most first", () =>
    Effect.gen(function* () {
      const plain: Incident = { status: "critical", isLoud: true, isAcknowledged: false, isSilenced: false }
      const counts = yield* play({
        incidents: [plain, { ...plain, isAcknowledged: true }, { ...plain, status: "warning" }],
        before: { routes: [{ to: ["chat"] }] },
        next: { routes: [{ to: ["mail"] }, { match, to: ["pager"] }] },
        minutes: 5,
      })
      assert.deepStrictEqual(counts, [
        { receiver: "mail", count: 2 },
        { receiver: "pager", count: 1 },
      ])
    }),
  )
})
