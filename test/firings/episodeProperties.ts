import type { Arrived } from "./differences.ts"
import type { Course } from "./playModel.ts"
import { type Attempted, rankOf, type Story, type Traced } from "./Story.ts"

/** The properties of episodes, as plain statements about the attempts at receivers, whatever decided them. */

/** How late background work may be, with the pass that follows a change. */
const LATE = 45
const [AGAIN_AFTER, TURN] = [600, 330]

const isOf = (one: Pick<Traced, "key" | "opening">) => (other: Pick<Traced, "key" | "opening">) =>
  one.key === other.key && one.opening === other.opening

const historiesOf = ({ trace }: Course): ReadonlyArray<ReadonlyArray<Traced>> => {
  const firsts = trace.filter((one, at) => trace.findIndex(isOf(one)) === at)
  return firsts.map((first) => trace.filter(isOf(first)))
}

/** Whether something held all of an incident at some moment of a span, or it was not open or not announced. */
const isDisturbed = (history: ReadonlyArray<Traced>, from: number, to: number): boolean =>
  history.some(({ ackRank, announced, at, isMuted, isOpen }, n) => {
    const isIn = at <= to && (history[n + 1]?.at ?? Infinity) >= from
    return isIn && (ackRank > 0 || isMuted || !isOpen || announced === 0)
  })

/** No attempt begins while an acknowledgement of its severity is in force, but one claimed before. */
const whileAcknowledged = (course: Course, attempts: ReadonlyArray<Attempted>): ReadonlyArray<string> =>
  historiesOf(course).flatMap((history) =>
    history.flatMap(({ ackRank, at, key, opening }, n) => {
      const until = history.slice(n).find((one) => one.ackRank < ackRank)?.at ?? Infinity
      const rung = attempts.filter(
        (one) =>
          isOf({ key, opening })(one) &&
          one.event === "firing" &&
          rankOf(one.severity) <= ackRank &&
          at + LATE < one.at &&
          one.at < until,
      )
      return rung.map((one) => `acknowledged at ${at}: ${JSON.stringify(one)}`)
    }),
  )

/** The receivers that steps name, with the least delay of a later one; a first step names those of Infinity. */
const laterDelays = ({ policy: { routes = [] } }: Story, receiver: string): ReadonlyArray<number> =>
  routes.flatMap(({ steps = [] }) =>
    steps.slice(1).flatMap(({ after = 0, to }) => (to.includes(receiver) ? after : [])),
  )

/** No firing of a later step is attempted before its delay has passed since the steps began. */
const beforeStep = (story: Story, course: Course, arrivals: ReadonlyArray<Arrived>): ReadonlyArray<string> =>
  arrivals.flatMap((arrived) => {
    const history = course.trace.filter(isOf(arrived)).filter(({ at }) => at < arrived.at)
    const opened = history.find(({ announced }) => announced > 0)?.at ?? 0
    // One that ran out while the service was stopped is found to have ended once that is back.
    const stops = course.steps.flatMap((one) => (one.step === "stops" ? [one] : []))
    const stopped = (at: number) => stops.find((stop) => stop.at <= at && at <= stop.at + stop.lasts)?.at
    const ackEnds = history.flatMap(({ ackRank, at }, n) =>
      ackRank === 0 && (history[n - 1]?.ackRank ?? 0) > 0 ? (stopped(at) ?? at) : [],
    )
    const began = Math.max(opened, ...ackEnds)
    const least = Math.min(...laterDelays(story, arrived.receiver))
    const isEarly = arrived.cause === "escalation" && arrived.at < began + least
    return isEarly ? [`before ${began} + ${least}: ${JSON.stringify(arrived)}`] : []
  })

const namesOfFirst = ({ policy: { routes = [] } }: Story, rank: number): ReadonlyArray<string> =>
  routes
    .filter(({ match = [] }) => match.every((text) => text.includes("!=") === rank < rankOf("critical")))
    .flatMap(({ steps, to = [] }) => steps?.[0]?.to ?? to)

/** Within 15 s of a return after `again_after`, each receiver of a first step that nothing holds has an attempt. */
const afterReturn = (
  story: Story,
  course: Course,
  attempts: ReadonlyArray<Attempted>,
): ReadonlyArray<string> => {
  const againAfter = story.policy.again_after ?? AGAIN_AFTER
  return historiesOf(course).flatMap((history) =>
    history.flatMap(({ announced, at, key, opening }, n) => {
      const before = history.slice(0, n)
      const left = before.findLastIndex((one) => one.announced >= announced)
      const fell = before[left + 1]?.at ?? Infinity
      const isReturn = announced > (before.at(-1)?.announced ?? 3) && left >= 0 && at - fell >= againAfter
      if (!isReturn || at + LATE >= course.until || isDisturbed(history, at, at + LATE)) return []
      const named = namesOfFirst(story, announced).filter((name) => story.receivers.includes(name))
      const missing = named.filter((receiver) => {
        const own = attempts.filter((one) => one.receiver === receiver && isOf({ key, opening })(one))
        // One that a silent result had state as much, since the severity was forgotten, knows it.
        const knows = (one: Attempted) => fell + againAfter <= one.at && rankOf(one.severity) >= announced
        return !own.some((one) => (at <= one.at || knows(one)) && one.at <= at + LATE)
      })
      return missing.map((receiver) => `returned at ${at}: no attempt at ${receiver}`)
    }),
  )
}

/** Of an incident whose first steps name a rota, somebody on call was reached in time, or all were tried. */
const onCall = (story: Story, course: Course, attempts: ReadonlyArray<Attempted>): ReadonlyArray<string> => {
  const turns = (story.policy.rotas?.["primary"]?.order ?? []).flat()
  const isNamed = namesOfFirst(story, rankOf("critical")).includes("primary")
  if (!isNamed) return []
  return historiesOf(course).flatMap((history) =>
    history.flatMap(({ announced, at, key, opening }, n) => {
      const isDue = announced === 3 && (history[n - 1]?.announced ?? 0) < 3
      const until = at + TURN * turns.length + LATE
      const isWatched = isDue && until < course.until && !isDisturbed(history, at, until)
      if (!isWatched || history.some((one) => at < one.at && one.at <= until && one.announced < 3)) return []
      const own = attempts.filter((one) => isOf({ key, opening })(one) && one.at <= until)
      const isReached = own.some((one) => one.isReached && turns.includes(one.receiver))
      const isTried = turns.every((turn) => own.some(({ receiver }) => receiver === turn))
      return isReached || isTried ? [] : [`due at ${at}: nobody of ${turns.join()} was reached`]
    }),
  )
}

/** The faults of a course by the properties. */
export const episodeFaults = (
  story: Story,
  course: Course,
  {
    arrivals,
    attempts,
  }: { readonly arrivals: ReadonlyArray<Arrived>; readonly attempts: ReadonlyArray<Attempted> },
): ReadonlyArray<string> => {
  const isRight = story.steps.every(({ step }) => step !== "clock_back")
  const hasRota = story.policy.rotas !== undefined
  const isUp = story.steps.every(({ step }) => step !== "stops" && step !== "clock_back")
  // Routes match loud members alone, whatever the incident states.
  const isLoud = story.steps.every((one) => one.step !== "report" || one.results.every(({ loud }) => loud))
  const isPlain = isLoud || story.policy.routes?.length === 1
  return [
    ...whileAcknowledged(course, attempts),
    ...(isRight && !hasRota ? beforeStep(story, course, arrivals) : []),
    ...(isUp && isPlain ? afterReturn(story, course, attempts) : []),
    ...(isUp ? onCall(story, course, attempts) : []),
  ]
}
