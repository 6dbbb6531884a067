import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import { Duration, Effect, Exit, Struct } from "effect"
import type { LastResult, MemberCheck } from "../../kernel/model/LastResult.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import type { LoudMember } from "../../kernel/unitOfWork/Search.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import { isOfLate } from "../model/IncidentRecord.ts"
import { severityOf } from "../model/MemberRecord.ts"
import type { ClaimedItem } from "./claimOutbox.ts"
import { openerTitles } from "./incidentTitles.ts"
import { decideDetails } from "./messageDetails.ts"

/** A message goes out without details rather than later. */
const READ_WITHIN = Duration.seconds(2)

/** The check whose details a message has; a resolved has none, nor has a silent agent. */
const checkOf = ({ worst }: ClaimedItem): MemberCheck | undefined => {
  if (worst?.agent === undefined || worst.member.check_id.startsWith("@")) return undefined
  const member = Struct.pick(worst.member, ["incident_id", "agent_id", "check_id", "change_seq"])
  return { ...member, registration_id: worst.agent.registration_id }
}

/** Whether a check has another status than the message states, and is not late: what it says by now is of that. */
const hasMovedOn = (item: ClaimedItem, { member }: LoudMember, { status }: LastResult): boolean =>
  severityOf(status) !== member.severity &&
  !isOfLate(item.notification.incident) &&
  member.summary?.startsWith("late: ") !== true

/** Gives claimed notifications their details, by one read for all of them (docs/rules.md#details). */
export const addDetails = Effect.fnUntraced(function* (items: ReadonlyArray<ClaimedItem>) {
  const members = items.flatMap((item) => checkOf(item) ?? [])
  if (members.length === 0) return items
  const storage = yield* Storage
  const reading = Effect.interruptible(Effect.suspend(() => storage.lastResults(members)))
  const read = yield* Effect.exit(Effect.timeout(reading, READ_WITHIN))
  if (Exit.isFailure(read)) {
    // Interrupted: the service stops.
    if (!Exit.hasInterrupts(read))
      yield* Effect.logWarning("cannot read the details of messages; sending them without", read.cause)
    return items
  }
  const found = new Map(read.value.map((result) => [result.incident_id, result]))
  return items.map((item): ClaimedItem => {
    const { notification, worst } = item
    const result = found.get(notification.incident.id)
    if (worst === undefined || result === undefined || hasMovedOn(item, worst, result)) return item
    return {
      ...item,
      notification: { ...notification, details: decideDetails(worst, result, notification.runbook) },
    }
  })
})

/** Reads the titles of what opened incidents. A message goes out without its title rather than later. */
export const readTitles = Effect.fnUntraced(function* (
  incidents: ReadonlyArray<ClaimedItem["notification"]["incident"]>,
  known?: ReadonlyArray<AgentRecord>,
) {
  const reading = openerTitles(yield* Storage, incidents, known)
  const read = yield* Effect.exit(Effect.timeout(Effect.interruptible(reading), READ_WITHIN))
  return Exit.isFailure(read) ? new Map<IncidentId, string>() : read.value
})

/** Gives claimed notifications their titles (docs/rules.md#titles). */
export const addTitles = Effect.fnUntraced(function* (items: ReadonlyArray<ClaimedItem>) {
  if (items.length === 0) return items
  const known = items.flatMap(({ worst }) => worst?.agent ?? [])
  const titles = yield* readTitles(
    items.map(({ notification: { incident } }) => incident),
    known,
  )
  return items.map((item): ClaimedItem => {
    const title = titles.get(item.notification.incident.id)
    return title === undefined ? item : { ...item, notification: { ...item.notification, title } }
  })
})
