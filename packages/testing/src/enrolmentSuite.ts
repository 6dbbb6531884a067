import { assert, describe, it } from "@effect/vitest"
import type { EnrolmentId } from "@tocsin/contract/enrolment/Enrolments"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { enrolmentState, EnrolmentTransitions } from "@tocsin/core/heart/model/EnrolmentRecord"
import { Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { enrol, enrolmentFor } from "./enrolmentRaceSuite.ts"
import { expireAll } from "./expireAll.ts"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "./forAll.ts"
import { rowOf } from "./observe.ts"
import { outcomeOf } from "./race.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { maybe } from "./rows/values.ts"
import { rowsOf } from "./rowsOf.ts"
import { heartbeatOf, keyOf, register } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const RUNS = 40

const UNKNOWN = Redacted.make(`enrol_${"0".repeat(43)}`)

const AGENTS = ["a", "b", "c"] as const
const agent = fc.constantFrom(...AGENTS)
const token = fc.nat({ max: 3 })

const step = fc.oneof(
  fc.record({
    step: fc.constant("create" as const),
    uses: fc.integer({ min: 1, max: 2 }),
    minutes: fc.integer({ min: 1, max: 3 }),
    only: maybe(agent),
  }),
  fc.record({ step: fc.constantFrom("beat" as const, "block" as const), agent }),
  fc.record({ step: fc.constant("enrol" as const), agent, token }),
  fc.record({ step: fc.constantFrom("remove" as const), token }),
  fc.record({ step: fc.constant("pass" as const), minutes: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ step: fc.constant("retain" as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
type State = (typeof EnrolmentTransitions)[number]["from" | "to"]

const ADMIT = { step: "create", uses: 1, minutes: 1, only: undefined } as const
const beat = (name: (typeof AGENTS)[number]) => ({ step: "beat", agent: name }) as const
const enrolled = (name: (typeof AGENTS)[number]) => ({ step: "enrol", agent: name, token: 0 }) as const
const END = [{ step: "pass", minutes: 2 }, { step: "retain" }] as const

/** Short lives in which every row of the table happens, and one agent shows the token of another. */
const TOURS: ReadonlyArray<ReadonlyArray<Step>> = [
  [{ ...ADMIT, uses: 2 }, beat("a"), enrolled("a"), beat("b"), enrolled("b"), ...END],
  [ADMIT, ...END],
  [ADMIT, { step: "remove", token: 0 }],
  [{ ...ADMIT, only: "a" }, beat("b"), enrolled("b"), beat("a"), enrolled("a")],
]

/** The agents and enrolments of a scenario, by the rules. */
interface Model {
  readonly agents: Map<string, "pending" | "accepted" | "blocked">
  readonly enrolments: Array<{
    readonly id: EnrolmentId
    readonly token: Redacted.Redacted
    readonly only: string | undefined
    readonly uses: number
    readonly until: Instant.Instant
    used: number
    isGone: boolean
  }>
}

type Enrolment = Model["enrolments"][number]

const stateOf = ({ isGone, until, used, uses }: Enrolment, now: Instant.Instant): State =>
  isGone ? "absent" : used === uses ? "used" : until <= now ? "expired" : "open"

/** The reply to an agent with a token, and the use that it takes. */
const replyTo = (model: Model, name: string, shown: Enrolment | undefined, now: Instant.Instant) => {
  const standing = model.agents.get(name)
  if (standing === "blocked") return "AgentBlocked"
  if (standing === undefined) return "AgentNotAccepted"
  if (standing === "accepted") return { accepted: true }
  if (shown === undefined || stateOf(shown, now) !== "open" || (shown.only ?? name) !== name)
    return "NotFound"
  shown.used += 1
  model.agents.set(name, "accepted")
  return { accepted: true }
}

/** Does a step, and has the model follow. */
const take = Effect.fnUntraced(function* (replica: Replica, model: Model, one: Step) {
  const now = yield* Instant.now
  switch (one.step) {
    case "create": {
      const { minutes, only, uses } = one
      const request = { uses, expires_in: Duration.minutes(minutes) }
      const made = yield* replica.admission.enrolments.create(
        only === undefined ? request : { ...request, agent_id: AgentId.make(only) },
      )
      const until = Instant.plus(now, request.expires_in)
      model.enrolments.push({
        id: made.id,
        token: Redacted.make(made.token),
        only,
        uses,
        until,
        used: 0,
        isGone: false,
      })
      return
    }
    case "beat":
      yield* outcomeOf(replica.ingest.heartbeat(keyOf(one.agent), heartbeatOf(one.agent)))
      if (!model.agents.has(one.agent)) model.agents.set(one.agent, "pending")
      return
    case "block":
      yield* outcomeOf(replica.admission.block(AgentId.make(one.agent)))
      if (model.agents.has(one.agent)) model.agents.set(one.agent, "blocked")
      return
    case "enrol": {
      const shown = model.enrolments[one.token]
      const expected = replyTo(model, one.agent, shown, now)
      assert.deepStrictEqual(yield* enrol(replica, one.agent, shown?.token ?? UNKNOWN), expected)
      return
    }
    case "remove": {
      const shown = model.enrolments[one.token]
      if (shown === undefined) return
      const count = shown.isGone ? 0 : 1
      assert.deepStrictEqual(yield* replica.admission.enrolments.remove(shown.id), { count })
      shown.isGone = true
      return
    }
    case "pass":
      return yield* TestClock.adjust(Duration.minutes(one.minutes))
    case "retain":
      yield* expireAll(replica.storage, { rule: "enrolments", before: now, limit: 1 })
      for (const made of model.enrolments) if (made.until < now) made.isGone = true
  }
})

const follows = <Place>(subject: StorageUnderTest<Place>) =>
  Effect.gen(function* () {
    const happened = new Set<unknown>()
    const play = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
      const replica = yield* openReplica(subject)
      const model: Model = { agents: new Map(), enrolments: [] }
      let before: ReadonlyArray<State> = []
      for (const one of steps) {
        yield* take(replica, model, one)
        const now = yield* Instant.now
        const stored = new Map(
          (yield* rowsOf(replica, "enrolments")).map((row) => [row.id, enrolmentState(row, now)]),
        )
        const states = model.enrolments.map((made) => stateOf(made, now))
        assert.deepStrictEqual(
          model.enrolments.map(({ id }) => stored.get(id) ?? "absent"),
          states,
        )
        for (const [n, to] of states.entries()) {
          const from = before[n] ?? "absent"
          const row = EnrolmentTransitions.find((row) => row.from === from && row.to === to)
          const isRow = row !== undefined && (from !== to || (one.step === "enrol" && one.token === n))
          assert.isTrue(isRow || from === to, `from ${from} to ${to} by ${one.step}`)
          if (isRow) happened.add(row)
        }
        before = states
      }
    }, Effect.scoped)
    yield* Effect.forEach(TOURS, play)
    assert.deepStrictEqual(
      EnrolmentTransitions.filter((row) => !happened.has(row)),
      [],
    )
    yield* forAll(fc.array(step, { maxLength: 20 }), { runs: RUNS }, play)
  })

const refusesReplacements = Effect.fnUntraced(function* (replica: Replica) {
  yield* register(replica, "a")
  const { id, token } = yield* enrolmentFor(replica, 2, "a")
  assert.deepStrictEqual(yield* enrol(replica, "a", token), { accepted: true })
  yield* replica.ingest.heartbeat(keyOf("next"), heartbeatOf("a"))
  assert.strictEqual(yield* enrol(replica, "a", token, "next"), "KeyConflict")
  assert.strictEqual((yield* rowOf(replica, "enrolment", id))?.used, 1)
  const [accepted, ...more] = yield* rowsOf(replica, "audit", { actor: `enrolment:${id}` })
  assert.deepStrictEqual([accepted?.action, more], ["agent.accepted", []])
  assert.notInclude(
    JSON.stringify([yield* rowsOf(replica, "enrolments"), yield* rowsOf(replica, "audit")], (_, value) =>
      typeof value === "bigint" ? String(value) : (value as unknown),
    ),
    Redacted.value(token),
  )
})

/** Enrolments: their rows and states (docs/rules.md#enrolment). */
export const enrolmentSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("enrolments", () => {
    it.effect(
      "move as their table states, and admit as the rules say",
      () => follows(subject),
      PROPERTY_TIMEOUT_MILLIS,
    )
    it.effect("accept no replacement key, and name themselves in the audit", () =>
      Effect.flatMap(openReplica(subject), refusesReplacements),
    )
  })
}
