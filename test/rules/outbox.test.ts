import type { Severity } from "@tocsin/contract/formats/Status"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import type { Observation } from "./Action.ts"
import { moved, type Rows } from "../service/Rows.ts"
import { enrollment, life, lifeByEvents, notifiers, SIZE, type Step } from "./Scenario.ts"
import type { ServiceOptions } from "../service/Service.ts"
import { driveService } from "./DrivenService.ts"

const arbitrary = { runs: propertyRuns(150), size: SIZE, maxShrinks: 2_000 }

const RANK: Readonly<Record<Severity, number>> = { warning: 1, unknown: 2, critical: 3 }

const onEveryAction = Effect.fnUntraced(function* (
  steps: ReadonlyArray<Step>,
  options: ServiceOptions,
  holds: (observed: Observation) => void,
) {
  const driven = yield* driveService(options)
  for (const observed of yield* driven.play([...enrollment, ...steps])) holds(observed)
})

const newItems = ({ before, after }: Observation): ReadonlyArray<OutboxRecord> =>
  moved(before.outbox, after.outbox).flatMap((item) =>
    item.before === undefined && item.after ? [item.after] : [],
  )

const firings = (rows: Rows, incidentId: string): ReadonlyArray<OutboxRecord> =>
  Array.from(rows.outbox.values()).filter(
    (item) => item.incident_id === incidentId && item.event_type === "firing",
  )

/** Whether an operator gave a dead letter another life, which began with attempts 0. */
const wasReplayed = (item: OutboxRecord): boolean =>
  item.attempts === 0 && item.first_attempted_at !== undefined

const DAY_MICROS = 86_400_000_000n
/** A severity may be forgotten so long after its firing, and no sooner. */
const AGAIN_MICROS = 600_000_000n

/**
 * Whether its receiver may know of it: it was attempted, and did not fail before the bounds on
 * attempts and age.
 */
const mayBeKnown = (item: OutboxRecord): boolean => {
  const isOver = item.attempts >= 14 || item.updated_at - item.age_starts_at >= DAY_MICROS
  return item.first_attempted_at !== undefined && (item.state !== "failed" || isOver)
}

const tells = (item: OutboxRecord): boolean => item.state !== "discarded"

/** The members that joined an incident or worsened in it, with that incident. */
const troubles = ({ before, after }: Observation) =>
  moved(before.members, after.members).flatMap(({ before: was, after: is }) => {
    if (is === undefined || is.left_at !== undefined) return []
    const joined = was === undefined || was.left_at !== undefined
    return joined || RANK[is.severity] > RANK[was.severity] ? [is] : []
  })

const resolvedNow = ({ before, after }: Observation) =>
  moved(before.incidents, after.incidents).flatMap(({ before: was, after: is }) =>
    was?.state === "open" && is?.state === "resolved" ? [is] : [],
  )

describe("a firing", () => {
  it.effect.prop(
    "exists for each enabled notifier when a loud event opens or worsens an incident, and only then",
    { steps: lifeByEvents, notifiers },
    ({ steps, notifiers }) =>
      onEveryAction(steps, { notifiers }, (observed) => {
        const { action, before, after, now: at } = observed
        const fired = newItems(observed).filter((item) => item.event_type === "firing")
        const isLoud =
          action.action === "events" && action.request.events.every((event) => event.notifications_enabled)
        const troubled = isLoud || action.action === "sweep" ? troubles(observed) : []
        for (const { incident_id } of troubled) {
          const severity = after.incidents.get(incident_id)?.severity ?? "warning"
          for (const notifier of notifiers) {
            const isNotified = (item: OutboxRecord) =>
              item.notifier === notifier && tells(item) && RANK[item.severity] >= RANK[severity]
            const known = firings(before, incident_id).filter(isNotified)
            const now = fired.filter((item) => item.incident_id === incident_id && item.notifier === notifier)
            // One of long ago may be forgotten, once the check was mild for ten minutes.
            if (known.length > 0 && known.every((item) => item.created_at + AGAIN_MICROS <= at)) continue
            assert.deepStrictEqual(
              now.map((item) => item.severity),
              known.length > 0 ? [] : [severity],
            )
          }
        }
        const places = new Set(troubled.map((member) => member.incident_id))
        assert.isTrue(
          fired.every((item) => places.has(item.incident_id) && notifiers.includes(item.notifier)),
        )
      }),
    { arbitrary },
  )

  it.effect.prop(
    "notifies each notifier of an incident with increasing severities only, until it may have forgotten one",
    { steps: life, notifiers },
    ({ steps, notifiers }) =>
      onEveryAction(steps, { notifiers }, ({ after }) => {
        for (const incidentId of after.incidents.keys()) {
          for (const notifier of notifiers) {
            const told = firings(after, incidentId).filter(
              (item) => item.notifier === notifier && tells(item),
            )
            for (const [n, { created_at, severity }] of told.entries()) {
              const before = told[n - 1]
              if (before === undefined || RANK[before.severity] < RANK[severity]) continue
              assert.isTrue(created_at >= before.created_at + AGAIN_MICROS)
            }
          }
        }
      }),
    { arbitrary },
  )

  it.effect.prop(
    "of a resolved incident is not left waiting for its first attempt",
    { steps: life, notifiers },
    ({ steps, notifiers }) =>
      onEveryAction(steps, { notifiers }, ({ after }) => {
        for (const incident of after.incidents.values()) {
          if (incident.state === "open") continue
          const waiting = firings(after, incident.id).filter((item) => item.state === "pending")
          assert.isTrue(waiting.every(wasReplayed))
        }
      }),
    { arbitrary },
  )
})

describe("a resolved", () => {
  it.effect.prop(
    "follows once for each notifier when a firing was attempted and not refused and the end is loud, or was sent and the agent was deleted",
    { steps: lifeByEvents, notifiers },
    ({ steps, notifiers }) =>
      onEveryAction(steps, { notifiers }, (observed) => {
        const { action, before } = observed
        const ended = newItems(observed).filter((item) => item.event_type === "resolved")
        const isSilent =
          action.action === "events" && action.request.events.some((event) => !event.notifications_enabled)
        const isByContact = action.action === "events" || action.action === "heartbeat"
        const expected = resolvedNow(observed).flatMap((incident) => {
          const wasReached = (item: OutboxRecord) =>
            isByContact ? mayBeKnown(item) : item.state === "sent" || item.state === "sending"
          // A silent event of a dead agent notifies, since the contact ends that incident, not the
          // event.
          const isHushed = isSilent && !incident.incident_key.endsWith("/@heartbeat")
          const reached = firings(before, incident.id).filter((item) => tells(item) && wasReached(item))
          const told = isHushed ? [] : Array.from(new Set(reached.map((item) => item.notifier)))
          return told.map((notifier) => `${incident.id} ${notifier} ${incident.severity}`)
        })
        assert.sameMembers(
          ended.map((item) => `${item.incident_id} ${item.notifier} ${item.severity}`),
          expected,
        )
      }),
    { arbitrary },
  )

  it.effect.prop(
    "exists at most once for an incident and a notifier, and only when the incident is resolved",
    { steps: life, notifiers },
    ({ steps, notifiers }) =>
      onEveryAction(steps, { notifiers }, ({ after }) => {
        const ends = Array.from(after.outbox.values()).filter((item) => item.event_type === "resolved")
        const names = ends.map((item) => `${item.incident_id} ${item.notifier}`)
        assert.strictEqual(new Set(names).size, names.length)
        assert.isTrue(ends.every((item) => after.incidents.get(item.incident_id)?.state === "resolved"))
      }),
    { arbitrary },
  )
})

describe("unsent firings", () => {
  it.effect.prop(
    "are discarded when the last member's agent is deleted, and stay when others remain",
    { steps: lifeByEvents, notifiers },
    ({ steps, notifiers }) =>
      onEveryAction(steps, { notifiers }, (observed) => {
        const { action, before, after } = observed
        if (!["remove", "block", "block_all", "remove_all"].includes(action.action)) return
        const resolved = new Set(resolvedNow(observed).map((incident) => incident.id))
        for (const item of before.outbox.values()) {
          const isUnsent =
            item.event_type === "firing" && (item.state === "pending" || item.state === "retry")
          const isDiscarded = isUnsent && resolved.has(item.incident_id)
          assert.strictEqual(after.outbox.get(item.id)?.state, isDiscarded ? "discarded" : item.state)
        }
      }),
    { arbitrary },
  )
})
