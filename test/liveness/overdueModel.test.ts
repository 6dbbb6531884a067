import { assert, describe, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "@tocsin/testing/forAll"
import { keyOf } from "@tocsin/testing/samples"
import { Clock, Duration, Effect, Result } from "effect"
import * as fc from "fast-check"
import { AGENT } from "../service/agents.ts"
import { openTimeline } from "../service/Timeline.ts"

const CHECKS = ["cpu", "disk"] as const
const STALE_SECONDS = 120
/** The time that an overdue check has to join its incident. */
const SLACK_SECONDS = 15

type Step =
  | { readonly step: "report" | "withdraw"; readonly check: (typeof CHECKS)[number] }
  | { readonly step: "declare"; readonly check: (typeof CHECKS)[number]; readonly minutes: number }
  | { readonly step: "heartbeat" }
  | { readonly step: "wait" | "restart"; readonly seconds: number }

const check = fc.constantFrom(...CHECKS)
const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ step: fc.constant("report" as const), check }) },
    { weight: 1, arbitrary: fc.record({ step: fc.constant("withdraw" as const), check }) },
    {
      weight: 3,
      arbitrary: fc.record({
        step: fc.constant("declare" as const),
        check,
        minutes: fc.constantFrom(1, 2),
      }),
    },
    { weight: 6, arbitrary: fc.record({ step: fc.constant("heartbeat" as const) }) },
    {
      weight: 8,
      arbitrary: fc.record({
        step: fc.constant("wait" as const),
        seconds: fc.constantFrom(5, 20, 60, 60, 130, 130, 400),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ step: fc.constant("restart" as const), seconds: fc.constantFrom(20, 300) }),
    },
  ),
  { minLength: 10, maxLength: 40, size: "max" },
)

interface Expected {
  readonly minutes: number
  readonly from: number
}

/** The rules in docs/rules.md#expectations over a list of what happened, in seconds. */
class Model {
  #now = 0
  #seen = 0
  #contact = 0
  #outage = -Infinity
  readonly #reported = new Map<string, number>()
  readonly #expected = new Map<string, Expected>()
  /** Since when a check is overdue. */
  readonly #overdue = new Map<string, number>()

  /** Time has passed; nothing else happened. */
  passes(now: number): void {
    this.#now = now
    for (const [name, { from, minutes }] of this.#expected) {
      const after = Math.max(3 * 60 * minutes, STALE_SECONDS + 30)
      const due = Math.max(from, this.#reported.get(name) ?? 0) + after
      const since = Math.max(due, this.#contact + after, this.#outage + after)
      if (this.#seen < due || since > now || this.#overdue.has(name)) continue
      this.#overdue.set(name, Math.max(since, this.#seen))
    }
  }

  /** Whether the agent's contact begins anew once it is seen now. */
  get isSilent(): boolean {
    return this.#now - this.#seen >= STALE_SECONDS
  }

  sees(): void {
    if (this.isSilent) this.#contact = this.#now
    this.#seen = this.#now
  }

  reports(name: string): void {
    this.sees()
    this.#reported.set(name, this.#now)
    this.#overdue.delete(name)
  }

  declares(name: string, minutes: number): void {
    if (this.#expected.get(name)?.minutes === minutes) return
    this.#expected.set(name, { minutes, from: this.#now })
  }

  withdraws(name: string): void {
    this.#expected.delete(name)
    this.#overdue.delete(name)
  }

  /** The service was down until now. */
  returns(now: number): void {
    if (now - this.#now > STALE_SECONDS) this.#outage = now
    this.passes(now)
  }

  /** Whether a check is overdue; `perhaps` while it has time to join its incident. */
  stateOf(name: string): "overdue" | "expected" | "perhaps" {
    const since = this.#overdue.get(name)
    if (since === undefined) return "expected"
    return this.#now - since > SLACK_SECONDS ? "overdue" : "perhaps"
  }
}

const seconds = Effect.map(Clock.currentTimeMillis, (millis) => millis / 1_000)

const play = Effect.fnUntraced(function* (scenario: ReadonlyArray<Step>) {
  const { after, agent, isDownFor, service } = yield* openTimeline({ process: { keepsHouse: true } })
  const { ingest } = yield* service.open("second", { keepsHouse: false })
  const model = new Model()
  model.passes(yield* seconds)
  model.sees()
  let declared: ReadonlyArray<{ readonly check_id: string; readonly every: string }> = []
  const declare = () => {
    const request = Result.getOrThrow(decodeExpectationsRequest({ checks: declared, complete: true }))
    return ingest.expectations(keyOf(AGENT), { agent_id: AGENT, request })
  }
  for (const step of scenario) {
    const isSeen = step.step === "heartbeat" || step.step === "report"
    // A check that has yet to join its incident may not: contact counts from now.
    if (isSeen && model.isSilent && CHECKS.some((name) => model.stateOf(name) === "perhaps")) return
    switch (step.step) {
      case "report":
        yield* agent().reports({ check: step.check, status: "ok" })
        model.reports(step.check)
        break
      case "heartbeat":
        yield* agent().heartbeats
        model.sees()
        break
      case "declare":
        // A check that has yet to join its incident would not: it counts from now.
        if (model.stateOf(step.check) === "perhaps") return
        declared = [
          ...declared.filter(({ check_id }) => check_id !== step.check),
          { check_id: step.check, every: `${step.minutes}m` },
        ]
        yield* declare()
        model.declares(step.check, step.minutes)
        break
      case "withdraw":
        declared = declared.filter(({ check_id }) => check_id !== step.check)
        yield* declare()
        model.withdraws(step.check)
        break
      case "wait":
        yield* after(Duration.seconds(step.seconds))
        model.passes(yield* seconds)
        break
      case "restart":
        if (CHECKS.some((name) => model.stateOf(name) === "perhaps")) return
        yield* isDownFor(Duration.seconds(step.seconds))
        model.returns(yield* seconds)
    }
    const { expectations, incidents } = service.rows()
    const overdue = CHECKS.filter((name) => expectations.get(`a/${name}`)?.incident_id !== undefined)
    for (const name of CHECKS) {
      const state = model.stateOf(name)
      if (state === "perhaps") continue
      assert.strictEqual(overdue.includes(name), state === "overdue", `${name} is ${state}`)
    }
    const open = Array.from(incidents.values()).filter(
      ({ incident_key, state }) => state === "open" && incident_key.endsWith("/@overdue"),
    )
    assert.strictEqual(open.length, overdue.length === 0 ? 0 : 1)
  }
})

describe("overdue checks", () => {
  it.effect(
    "equal the rules, whatever an agent does and however long",
    () => forAll(steps, { runs: 25 }, (scenario) => Effect.scoped(play(scenario))),
    PROPERTY_TIMEOUT_MILLIS,
  )
})
