import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { acknowledgementOf } from "../model/Acknowledgement.ts"
import { reachedAt, SEVERITIES } from "../model/Announced.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { isBelow } from "../model/MemberRecord.ts"
import { holdsInForce, isHeld, namesInForce, type OutboxRecord } from "../model/OutboxRecord.ts"
import type { Reason } from "../model/Reason.ts"
import type { Naming } from "../policy/routing.ts"
import { type Hold, momentOf } from "./Hold.ts"

/**
 * The moment after which steps begin, whatever was announced when: the last end of an acknowledgement, or of a hold
 * under which something was due (docs/rules.md#steps).
 */
export const stepsBeginAfter = (
  incident: IncidentRecord,
  now: Instant.Instant,
): Instant.Instant | undefined => {
  const { announced, steps_began_at } = incident
  const acknowledgement = acknowledgementOf(incident)
  if (acknowledgement === undefined) return steps_began_at
  const { severity, until } = acknowledgement
  const isTooMild = announced !== undefined && isBelow(severity, announced)
  return isTooMild && now < until ? steps_began_at : Instant.latest([steps_began_at, until])
}

/** The moment of a later step, when its steps began, and the rotas by which alone it names its receiver. */
export interface StepMoment {
  readonly at: Instant.Instant
  readonly begun: Instant.Instant
  readonly rotas: ReadonlyArray<NotifierName> | undefined
}

interface StepFacts {
  readonly naming: Naming
  readonly receiver: NotifierName
  /** Those for the receiver that nothing holds. */
  readonly firings: ReadonlyArray<OutboxRecord>
}

/** The last step that is due. */
export const stepBefore = (
  moments: ReadonlyArray<StepMoment>,
  now: Instant.Instant,
): StepMoment | undefined =>
  moments
    .filter(({ at }) => at <= now)
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .at(-1)

/** The steps that are due, as the firing keeps them that stands for them. */
export const pagedBy = (moments: ReadonlyArray<StepMoment>, now: Instant.Instant): Reason["paged"] => {
  const due = moments.filter(({ at }) => at <= now)
  const until = Instant.latest(due.map(({ at }) => at))
  return until && { begun: Array.from(new Set(due.map(({ begun }) => Number(begun)))), until: Number(until) }
}

/** Whether a firing stands for a step, also when a clock was set back and the moment of that comes once more. */
export const standsFor = (
  { why }: Pick<OutboxRecord, "why">,
  { at, begun }: Pick<StepMoment, "at" | "begun">,
): boolean => why?.paged !== undefined && why.paged.begun.includes(Number(begun)) && at <= why.paged.until

/**
 * The moments of the later steps that name a receiver, as they stand: of each delay, one for each beginning that is not
 * before the moment of an earlier one.
 */
export const stepsOf = (
  incident: IncidentRecord,
  { firings, naming, receiver }: StepFacts,
  now: Instant.Instant,
): ReadonlyArray<StepMoment> => {
  const { announced } = incident
  if (announced === undefined) return []
  const after = stepsBeginAfter(incident, now)
  const moments = new Map<number, ReadonlyArray<StepMoment>>()
  for (const severity of SEVERITIES) {
    const reached = reachedAt(incident, severity)
    if (reached === undefined || isBelow(announced, severity)) continue
    const begun = Instant.latest([reached, after]) ?? reached
    const { later = [], laterRotas } = naming.at(severity).get(receiver) ?? {}
    for (const delay of later) {
      const millis = Duration.toMillis(delay)
      const before = moments.get(millis) ?? []
      const last = before.at(-1)
      // After a clock was set back, one that is to come once more has paged before this one began.
      const isOver = firings.some((item) => item.age_starts_at <= begun && last && standsFor(item, last))
      if (last === undefined || begun >= last.at || isOver)
        moments.set(millis, [
          ...before,
          { at: Instant.plus(begun, delay), begun, rotas: laterRotas?.get(millis) },
        ])
    }
  }
  return Array.from(moments.values()).flat()
}

/** The holds whose end begins steps again. Quiet hours and delays hold single rows. */
const BEGINS_STEPS = /^(?:parent|silence|window):|^outage$/u
/** Under these, nothing is due. */
const NOT_DUE: ReadonlySet<string> = new Set(["not_owed", "notifications_off"])

/** Whether the end of a hold begins steps again. */
export const beginsSteps = ({ by }: Pick<Hold, "by">): boolean => BEGINS_STEPS.test(by)

/** When the last hold ended under which a firing was due; `inForce` are those that its receiver has now. */
export const holdEnded = (
  item: OutboxRecord,
  inForce: ReadonlyArray<Pick<Hold, "by">>,
  now: Instant.Instant,
): Instant.Instant | undefined => {
  if (!isHeld(item)) return undefined
  const held = holdsInForce(item)
  const isDue = !namesInForce(item).some((by) => NOT_DUE.has(by))
  const dueAt = held.find(({ by }) => by === "after")?.until
  return Instant.latest(
    held
      .filter((hold) => beginsSteps(hold) && inForce.every(({ by }) => by !== hold.by))
      .flatMap(({ until, wasDue }) => {
        const ended = until === undefined ? now : Instant.min(momentOf(until), now)
        const isUnder = isDue && (dueAt === undefined || momentOf(dueAt) < ended)
        return wasDue === true || isUnder ? [ended] : []
      }),
  )
}
