import * as Instant from "@tocsin/contract/Instant"
import type { NotifierName, Severity } from "@tocsin/contract/Status"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { occurrenceInForce } from "../policy/occurrences.ts"
import { type Hold, isBelow } from "./Hold.ts"

/** The receivers that are quiet at a moment: below which severity, and until when. */
export type QuietReceivers = ReadonlyMap<
  NotifierName,
  { readonly below: Severity; readonly until: Instant.Instant }
>

/** The receivers in whose quiet hours a moment is. */
export const quietReceivers = ({ receivers }: Policy, now: Instant.Instant): QuietReceivers => {
  const found = new Map<NotifierName, { readonly below: Severity; readonly until: Instant.Instant }>()
  for (const [name, { quiet }] of receivers) {
    if (quiet === undefined) continue
    const present = occurrenceInForce(quiet, now)
    if (present !== undefined) found.set(name, { below: quiet.below, until: present.ends_at })
  }
  return found
}

/** The quiet hours that hold a firing for a receiver (docs/rules.md#quiet-hours). */
export const quietHolds = (
  receivers: QuietReceivers,
  receiver: NotifierName,
  { severity, announced = severity }: IncidentRecord,
): ReadonlyArray<Hold> => {
  const quiet = receivers.get(receiver)
  return quiet !== undefined && isBelow(announced, quiet.below) ? [{ by: "quiet", until: quiet.until }] : []
}

/** The quiet hours of an incident: it waits where each of these receivers is quiet, until the first hours end. */
export const sharedQuiet = (
  receivers: QuietReceivers,
  named: Iterable<NotifierName>,
  incident: IncidentRecord,
): ReadonlyArray<Hold> => {
  const ends = Array.from(named, (receiver) => quietHolds(receivers, receiver, incident)[0]?.until)
  const known = ends.filter((until) => until !== undefined)
  const until = known.length < ends.length ? undefined : Instant.earliest(known)
  return until === undefined ? [] : [{ by: "quiet", until }]
}
