import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { CheckResultEvent } from "@tocsin/contract/v1/Requests"
import * as Instant from "@tocsin/contract/formats/Instant"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { eventId } from "@tocsin/testing/samples"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { type Action, batchReply, type EventsAction, type Observation } from "./Action.ts"
import { changedFields } from "./changedFields.ts"
import {
  AGENTS,
  enrollment,
  KEYS,
  life,
  lifeWithoutReset,
  notifiers,
  properLife,
  SIZE,
  type Step,
} from "./Scenario.ts"
import type { ServiceOptions } from "../service/Service.ts"
import { driveService, type DrivenService } from "./DrivenService.ts"

const arbitrary = { runs: propertyRuns(120), size: SIZE, maxShrinks: 2_000 }

/** The columns that an identical result in order may change. */
const ofRepeats = [
  "agent.last_seen_at",
  "check.last_observed_at",
  "check.received_at",
  "check.seen_event_ids",
  "check.summary",
  "incident.summary",
  "member.summary",
]

/** The accepted key of an agent. */
const keyOf = (driven: DrivenService, agentId: string): string | undefined => {
  const hash = driven.rows().agents.get(agentId)?.accepted_key_hash
  return KEYS.find((key) => driven.hashing.identify(Redacted.make(key)).key_hash === hash)
}

/** All accepted agents make contact, so that later requests do not end heartbeat incidents. */
const contacts = (driven: DrivenService): ReadonlyArray<Step> =>
  AGENTS.flatMap((agent_id): ReadonlyArray<Step> => {
    const key = keyOf(driven, agent_id)
    return key === undefined ? [] : [{ step: "heartbeat", agent_id, key, lagSeconds: 0, hostname: "h1" }]
  })

/**
 * The batches that present agents have sent since they registered, under the keys that they have
 * now.
 */
const sentBatches = (
  driven: DrivenService,
  observations: ReadonlyArray<Observation>,
): ReadonlyArray<EventsAction> => {
  const registrationOf = (agentId: string, { agents } = driven.rows()) => agents.get(agentId)?.registration_id
  return observations.flatMap(({ action, reply, after }) => {
    if (action.action !== "events" || batchReply(reply) === undefined) return []
    const { agent_id } = action.request
    const key = keyOf(driven, agent_id)
    const isOfPresentAgent = registrationOf(agent_id, after) === registrationOf(agent_id)
    return key !== undefined && isOfPresentAgent ? [{ ...action, key }] : []
  })
}

describe("a batch that is sent again, at any later time,", () => {
  /** Sends all batches again. Returns the changes of each. */
  const sendAgain = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>, options: ServiceOptions) {
    const driven = yield* driveService(options)
    const observations = yield* driven.play([...enrollment, ...steps])
    yield* driven.play(contacts(driven))
    return yield* Effect.forEach(
      sentBatches(driven, observations),
      Effect.fnUntraced(function* (batch) {
        yield* driven.perform({ action: "wait", millis: 1 })
        const { before, after, reply } = yield* driven.perform(batch)
        assert.deepStrictEqual(reply, { accepted: 0, deduplicated: batch.request.events.length })
        return changedFields(before, after)
      }),
    )
  })

  it.effect.prop(
    "changes only when its agent was last seen",
    { steps: properLife, notifiers },
    ({ steps, notifiers }) =>
      Effect.gen(function* () {
        for (const changed of yield* sendAgain(steps, { notifiers })) {
          assert.deepStrictEqual(changed, ["agent.last_seen_at"])
        }
      }),
    { arbitrary },
  )

  it.effect.prop(
    "changes no status, even when events of several checks share an ID",
    { steps: lifeWithoutReset, notifiers },
    ({ steps, notifiers }) =>
      Effect.gen(function* () {
        // Such an event may count as an identical result: only those that would be changes are
        // looked up in the history. No rule covers two events of one check with the same ID: the
        // second counts once the check no longer remembers the first.
        for (const changed of yield* sendAgain(steps, { notifiers }))
          assert.includeMembers(ofRepeats, [...changed])
      }),
    { arbitrary },
  )
})

describe("the answer to a batch", () => {
  it.effect.prop(
    "counts every event once, and as accepted the stored ones; a refused batch changes nothing",
    { steps: life },
    ({ steps }) =>
      Effect.gen(function* () {
        const driven = yield* driveService()
        for (const { action, reply, before, after } of yield* driven.play([...enrollment, ...steps])) {
          if (action.action !== "events") continue
          const applied = batchReply(reply)
          if (applied === undefined) assert.deepStrictEqual(changedFields(before, after), [])
          else {
            assert.strictEqual(applied.accepted + applied.deduplicated, action.request.events.length)
            const stored = after.history.slice(before.history.length)
            assert.strictEqual(applied.accepted, stored.length)
            const events = new Set(action.request.events.map((event) => event.event_id))
            assert.isTrue(
              stored.every((row) => events.has(row.event_id) && row.agent_id === action.request.agent_id),
            )
          }
        }
      }),
    { arbitrary },
  )
})

describe("a batch that is split into batches of one event", () => {
  const split = (action: Action): ReadonlyArray<Action> =>
    action.action === "events"
      ? action.request.events.map((event) => ({ ...action, request: { ...action.request, events: [event] } }))
      : [action]

  it.effect.prop(
    "has the same total answer, and the same rows",
    { steps: properLife, notifiers },
    ({ steps, notifiers }) =>
      Effect.gen(function* () {
        const whole = yield* driveService({ notifiers })
        const observations = yield* whole.play([...enrollment, ...steps])
        const parts = yield* driveService({ notifiers })
        for (const { action, reply } of observations) {
          const replies = yield* Effect.forEach(split(action), (part) => parts.perform(part))
          const applied = replies.flatMap((part) => batchReply(part.reply) ?? [])
          const accepted = applied.reduce((total, part) => total + part.accepted, 0)
          assert.strictEqual(accepted, batchReply(reply)?.accepted ?? 0)
        }
        assert.deepStrictEqual(parts.rows(), whole.rows())
      }),
    { arbitrary },
  )
})

describe("an event that changes no status", () => {
  const STATUSES = ["ok", "warning", "critical", "unknown"] as const

  const eventOf = (
    check: CheckRecord,
    number: number,
    changes: Partial<CheckResultEvent>,
  ): CheckResultEvent => ({
    event_id: eventId(9_000_000 + number),
    check_id: check.check_id,
    observed_at: check.last_observed_at,
    status: check.status,
    exit_code: check.exit_code,
    duration_ms: 1,
    output_truncated: false,
    notifications_enabled: true,
    ...changes,
  })

  /** Sends one event for each check of an accepted agent. Returns the changes of each. */
  const sendForEach = Effect.fnUntraced(function* (
    driven: DrivenService,
    eventFor: (check: CheckRecord, number: number) => CheckResultEvent,
  ) {
    yield* driven.play(contacts(driven))
    const observations: Array<Observation<EventsAction>> = []
    for (const check of driven.rows().checks.values()) {
      const key = keyOf(driven, check.agent_id)
      if (key === undefined) continue
      yield* driven.perform({ action: "wait", millis: 1 })
      const request = { agent_id: check.agent_id, events: [eventFor(check, observations.length)] }
      observations.push(yield* driven.perform({ action: "events", key, request }))
    }
    return observations
  })

  it.effect.prop(
    "because it is late changes only when its agent was last seen",
    { steps: life },
    ({ steps }) =>
      Effect.gen(function* () {
        const driven = yield* driveService()
        yield* driven.play([...enrollment, ...steps])
        const observed_at = (check: CheckRecord) => Instant.fromMicros(check.last_observed_at - 1n)
        const late = (check: CheckRecord, number: number) =>
          eventOf(check, number, {
            observed_at: observed_at(check),
            status: STATUSES[number % 4] ?? "ok",
            output: "late",
          })
        for (const { reply, before, after } of yield* sendForEach(driven, late)) {
          assert.deepStrictEqual(reply, { accepted: 0, deduplicated: 1 })
          assert.deepStrictEqual(changedFields(before, after), ["agent.last_seen_at"])
        }
      }),
    { arbitrary },
  )

  it.effect.prop(
    "because it is identical changes only the check's time and summary, and its incident's view of them",
    { steps: life },
    ({ steps }) =>
      Effect.gen(function* () {
        const driven = yield* driveService()
        yield* driven.play([...enrollment, ...steps])
        const identical = (check: CheckRecord, number: number) => {
          // In order: at the same moment, or a microsecond later. Incident key and silence are
          // those of no change.
          const observed_at = Instant.fromMicros(check.last_observed_at + BigInt(number % 2))
          const output = number % 3 === 0 ? {} : { output: `still so\nat ${number}` }
          return eventOf(check, number, { observed_at, notifications_enabled: number % 5 !== 0, ...output })
        }
        for (const { action, now, reply, before, after } of yield* sendForEach(driven, identical)) {
          assert.deepStrictEqual(reply, { accepted: 0, deduplicated: 1 })
          assert.includeMembers(ofRepeats, [...changedFields(before, after)])
          for (const event of action.request.events) {
            const check = after.checks.get(`${action.request.agent_id}/${event.check_id}`)
            assert.strictEqual(check?.summary, event.output)
            assert.strictEqual(check?.last_observed_at, event.observed_at)
            assert.strictEqual(check?.received_at, now)
          }
        }
      }),
    { arbitrary },
  )
})
