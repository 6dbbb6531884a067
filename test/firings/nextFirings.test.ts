import { assert, describe, it } from "@effect/vitest"
import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  isFiring,
  holdsInForce,
  isHeld,
  isUnended,
  type OutboxRecord,
  wasAttempted,
} from "@tocsin/core/heart/model/OutboxRecord"
import { toIncidentDetail } from "@tocsin/core/heart/usecases/shownIncidents"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Duration, Effect } from "effect"
import { playModel } from "./playModel.ts"
import { type Played, playService } from "./playService.ts"
import { randomStory } from "./randomStory.ts"
import type { Step, Story } from "./Story.ts"

const USUAL = 80
const ROUNDS = 3
/** Stories beyond the usual ones in which faults were found. */
const FOUND: ReadonlyArray<number> = [158]
/** Within this, passes follow a change, and evaluations what is due. */
const SWEEP = Duration.seconds(16)

type Detail = ReturnType<typeof toIncidentDetail>
/** A firing that the page of an incident stated as the next one of its receiver. */
type Stated = Detail["next"][number] & { readonly incident_id: IncidentId }

const wordsOf = ({ cause, due_at, holds, receiver }: Stated) =>
  `${receiver}: ${due_at === null ? "now" : Instant.format(due_at)}, ${cause}, ${holds.map(({ hold }) => hold).join()}`

/** The firings that the pages of all open incidents state. */
const readPages = Effect.fnUntraced(function* ({ operations, rows }: Played) {
  const open = Array.from(rows().incidents.values()).filter(({ state }) => state === "open")
  const details = yield* Effect.forEach(open, ({ id }) => operations.incident(id))
  const pages = details.map((detail) => ({ detail, page: toIncidentDetail(detail) }))
  for (const { detail, page } of pages) {
    const sentAt = ({ due_at, holds }: Detail["next"][number]) =>
      [due_at ?? detail.now, ...holds.map(({ until }) => until ?? Instant.LATEST)].reduce(Instant.max)
    const times = page.next.map(sentAt)
    assert.deepStrictEqual(
      times,
      times.toSorted((a, b) => Number(a - b)),
      "the next firing comes first",
    )
  }
  return new Map(pages.map((one) => [one.detail.incident.id, one]))
})

const endsOf = ({ holds }: Stated) => holds.flatMap(({ until }) => until ?? [])

/** All other holds begin and end without an act about the incident, between two evaluations of the row. */
const isOfAct = (hold: string) => hold === "ack" || hold.startsWith("silence:")

/** Whether a row is held, and by no act but these. */
const isHeldBy = (item: OutboxRecord, names: ReadonlyArray<string>) =>
  isHeld(item) && holdsInForce(item).every(({ by }) => !isOfAct(by) || names.includes(by))

/** A service whose clock moves on to the next moment that pages state. Returns faults, and what it compared. */
const moveOn = Effect.fnUntraced(function* (played: Played, isFirst: boolean) {
  const { passTo, present, rows } = played
  const pages = yield* readPages(played)
  const began = present()
  const before = rows().outbox
  const stated = Array.from(pages).flatMap(([incident_id, { page }]) =>
    page.next.map((firing): Stated => ({ ...firing, incident_id })),
  )
  const times = stated.flatMap((firing) => [firing.due_at ?? [], endsOf(firing)].flat())
  const isDue = stated.some(({ due_at, holds }) => due_at === null && holds.length === 0)
  const target = isDue || isFirst ? began : Instant.earliest(times.filter((time) => time > began))
  const end = Instant.plus(target ?? began, SWEEP)
  yield* passTo(end)
  // An incident that changed meanwhile had an event.
  const isSame = (id: IncidentId) => {
    const [stood, after] = [pages.get(id)?.detail.incident, rows().incidents.get(id)]
    return stood?.member_changes === after?.member_changes && after?.state === "open"
  }
  const items = Array.from(rows().outbox.values()).filter(({ event_type }) => event_type === "firing")
  const of = ({ incident_id, receiver }: Pick<Stated, "incident_id" | "receiver">) =>
    items.filter((item) => item.incident_id === incident_id && item.receiver === receiver)
  const wasSent = (item: OutboxRecord) =>
    wasAttempted(item) && item.attempts !== before.get(item.id)?.attempts
  const faults: Array<string> = []
  const seen = { sent: 0, held: 0 }
  // Since the pages were read, an incident may have opened on which this one depends.
  const hasOpened = Array.from(rows().incidents.values()).some(({ opened_at }) => opened_at > began)
  const isHeldByOpened = (item: OutboxRecord) =>
    hasOpened && isHeld(item) && holdsInForce(item).some(({ by }) => by.startsWith("parent:"))
  for (const firing of stated.filter(({ incident_id }) => isSame(incident_id))) {
    if (firing.due_at !== null && firing.due_at !== target) continue
    const rowsOf = of(firing).filter(({ cause }) => (cause ?? null) === firing.cause)
    if (firing.holds.length === 0) {
      seen.sent += 1
      const isSent = (item: OutboxRecord) => wasSent(item) && item.updated_at >= (firing.due_at ?? began)
      if (!rowsOf.some((item) => isSent(item) || isHeldByOpened(item)))
        faults.push(`not sent: ${wordsOf(firing)}`)
    } else if (endsOf(firing).every((until) => until > end)) {
      seen.held += 1
      // Of silences that held the row at its last evaluation, some may have ended since.
      const covering = pages.get(firing.incident_id)?.detail.silences ?? []
      const ended = covering.flatMap(({ silence }) =>
        silence.ends_at <= began ? `silence:${silence.id}` : [],
      )
      const names = [...firing.holds.map(({ hold }) => hold), ...ended]
      if (!rowsOf.some((item) => isHeldBy(item, names)))
        faults.push(
          `not held: ${wordsOf(firing)}: ${rowsOf.map(({ holds, state }) => `${state} ${JSON.stringify(holds)}`)}`,
        )
    }
  }
  // A page states the first of the firings that are on their way to a receiver, or its next attempt.
  const hasMore = (item: OutboxRecord) => {
    const firings = Array.from(before.values()).filter(
      (other) =>
        isFiring(other) &&
        isUnended(other) &&
        other.incident_id === item.incident_id &&
        other.receiver === item.receiver,
    )
    return firings.length > 1 || firings.some(({ state }) => state === "retry")
  }
  for (const item of items.filter((one) => wasSent(one) && isSame(one.incident_id) && !hasMore(one))) {
    const isStated = stated.some(
      (firing) =>
        firing.incident_id === item.incident_id &&
        firing.receiver === item.receiver &&
        (firing.due_at ?? began) <= item.updated_at &&
        (firing.holds.length > 0 || firing.cause === (item.cause ?? null)),
    )
    if (!isStated)
      faults.push(`not stated: ${item.receiver}, ${item.cause}, ${Instant.format(item.updated_at)}`)
  }
  return {
    faults: faults.length === 0 ? [] : [...faults, ...stated.map(wordsOf)],
    seen,
    isOver: target === undefined,
  }
})

/**
 * The story of a number; every other one ends with an acknowledgement. No clock is set back: a service
 * notices that seconds later.
 */
const watchedStory = (number: number): Story => {
  const story = randomStory(number)
  const last: Step = { step: "acknowledge", which: number, lasts: 640, wait: 60 }
  const steps = story.steps.filter(({ step }) => step !== "clock_back")
  return { ...story, steps: number % 2 === 0 ? [...steps, last] : steps }
}

describe("the page of an incident in random stories", () => {
  it.effect("states as next what the service sends or holds once its clock is there", () =>
    Effect.gen(function* () {
      const counts = { sent: 0, held: 0 }
      const usual = Array.from({ length: propertyRuns(USUAL) }, (_, number) => number)
      for (const number of new Set([...usual, ...FOUND])) {
        const story = watchedStory(number)
        const course = playModel(story, 0)
        const watch = Effect.fnUntraced(function* (played: Played) {
          for (let round = 0; round < ROUNDS; round++) {
            const { faults, isOver, seen } = yield* moveOn(played, round === 0)
            assert.deepStrictEqual(
              faults,
              [],
              `story ${number}, round ${round}: ${JSON.stringify(course.steps)}`,
            )
            counts.sent += seen.sent
            counts.held += seen.held
            if (isOver) break
          }
        })
        yield* playService(story, course, { watch })
      }
      assert.isAbove(counts.sent, 0)
      assert.isAbove(counts.held, 0)
    }),
  )
})
