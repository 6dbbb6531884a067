import { assert } from "@effect/vitest"
import { heldIncidents, heldItems } from "@tocsin/core/heart/firings/readHolds"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { START_MILLIS } from "@tocsin/testing/samples"
import { Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, enroll, report, type Result as Reported } from "../service/agents.ts"
import { openService } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

/** The receivers of such a service. */
export const NAMES = ["chat"]

/** A service in memory under a policy, with one agent and one receiver. */
export const openUnder = Effect.fnUntraced(function* (
  document: object,
  { at = START_MILLIS, deadAfter = Duration.days(365) }: { at?: number; deadAfter?: Duration.Duration } = {},
) {
  const service = yield* openService({ notifiers: NAMES, deadAfter })
  yield* TestClock.setTime(at)
  const process = yield* service.open("first", { keepsHouse: true })
  let policy = compilePolicy({}, NAMES)
  const replace = Effect.fnUntraced(function* (next: object) {
    policy = compilePolicy(Result.getOrThrow(readPolicy(next, NAMES)), NAMES)
    yield* process.policy.replace(policy)
    yield* settled
  })
  yield* replace(document)
  yield* enroll(process, AGENT)
  const turns = (check: string, status: Reported["status"], more: Partial<Reported> = {}) =>
    Effect.andThen(Effect.orDie(report(process, [{ check, status, ...more }])), settled)
  const messages = () =>
    service.receivers.arrivals.map(({ notification: { cause, event_type, severity } }) =>
      [cause ?? event_type, severity].join(" "),
    )
  /** The messages, each after the key of its incident. */
  const keyed = () =>
    service.receivers.arrivals.map(
      ({ notification: { incident } }, n) => `${incident.incident_key} ${messages()[n]}`,
    )
  const after = (duration: Duration.Input) => Effect.andThen(service.passes(duration), settled)
  const items = () => Array.from(service.rows().outbox.values())
  const held = Effect.gen(function* () {
    const options = { policy: () => policy, staleAfter: Duration.minutes(2) }
    const ids = Array.from(service.rows().incidents.values(), ({ id }) => id)
    const { held: ofItems } = yield* process.commits.transact(heldItems(items(), options))
    const ofIncidents = yield* process.commits.transact(heldIncidents(ids, options))
    assert.deepStrictEqual(Array.from(ofItems.values()), Array.from(ofIncidents.values()))
    return Array.from(ofItems.values(), ({ held_by, held_until }) => {
      const minutes = (Number(held_until) / 1_000 - at) / 60_000
      return `${held_by.join(", ")} until ${minutes}`
    })
  })
  return { service, process, replace, turns, messages, keyed, after, items, held }
})
