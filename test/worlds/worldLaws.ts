import { contradictions } from "@tocsin/testing/inconsistencies"
import { lawsOfCommit } from "../system/laws.ts"
import type { Moved } from "./moves.ts"
import type { World } from "./World.ts"

/** The laws that hold after each move of a small world; the broken laws in words. */
export const worldLaws = (
  { broken, changes, isAct = false, world }: Moved,
  before: World,
): ReadonlyArray<string> => [
  ...(broken === undefined ? [] : [broken]),
  ...contradictions(storedRows(world)),
  ...ofOutbox(world),
  ...(changes === undefined
    ? []
    : lawsOfCommit(changes, {
        isAct,
        now: world.now,
        outbox: world.tables.keyed.outbox,
        attempts: attemptsOf(before, world),
      })),
]

const storedRows = ({ tables }: World) => {
  const isPresent = (row: { readonly registration_id: string }) =>
    !tables.removedRegistrations.has(row.registration_id)
  const checks = Array.from(tables.checks.values()).flatMap((ofAgent) => Array.from(ofAgent.values()))
  return {
    agents: Array.from(tables.agents.values()),
    checks: checks.filter(isPresent),
    history: Array.from(tables.history.values()).filter(isPresent).toReversed(),
    incidents: Array.from(tables.incidents.values()),
    members: Array.from(tables.keyed.incident_member.values()).filter(({ left_at }) => left_at === undefined),
    overdue: [],
  }
}

/** No receiver is sent the end of what it was never notified of. */
const ofOutbox = ({ tables }: World): ReadonlyArray<string> => {
  const items = Array.from(tables.keyed.outbox.values())
  return items.flatMap(({ event_type, incident_id, first_attempted_at }) => {
    if (event_type !== "resolved" || first_attempted_at === undefined) return []
    const isKnown = items.some(
      (other) =>
        other.incident_id === incident_id &&
        other.event_type === "firing" &&
        other.first_attempted_at !== undefined,
    )
    return isKnown ? [] : [`a resolution of ${incident_id} was sent without a firing`]
  })
}

/** The attempts that ended with this move. */
const attemptsOf = (before: World, after: World) =>
  before.replicas.flatMap(({ attempt }, at) =>
    attempt === undefined || after.replicas[at]?.attempt !== undefined
      ? []
      : [
          {
            client: String(at),
            notification: attempt.notification,
            answer: { outcome: "delivered" as const, reaches: true, sendingMillis: 0, answeringMillis: 0 },
            startedAt: before.now,
            endedAt: after.now,
            isAnswered: false,
            asked: undefined,
          },
        ],
  )
