import type { Course } from "./playModel.ts"
import type { Message, OnCall } from "./Story.ts"

/** A message that arrived, at a second of the story. */
export interface Arrived extends Omit<Message, "from" | "to"> {
  readonly at: number
}

/** Those who are on call and have no firing of their incident, whatever became of it. */
export const unnotified = (
  { onCall }: Course,
  firings: ReadonlyArray<{ readonly key: string; readonly opening: number; readonly receiver: string }>,
): ReadonlyArray<string> => {
  const isSame = (one: OnCall) => (other: OnCall) =>
    one.key === other.key && one.opening === other.opening && one.receiver === other.receiver
  const missing = onCall.filter((one) => !firings.some(isSame(one)))
  return missing.map(({ key, opening, receiver }) => `not notified: ${receiver} ${key} ${opening}`)
}

const wordsOf = ({ cause, event, key, opening, receiver, severity }: Omit<Message, "from" | "to">) =>
  `${receiver} ${key} ${opening} ${event} ${cause ?? ""} ${severity}`

/**
 * The messages that are missing and those that are surplus, before the end of a course. One may come so many
 * seconds later than the model allows.
 */
export const differences = (
  { messages, until }: Course,
  arrivals: ReadonlyArray<Arrived>,
  late = 0,
): ReadonlyArray<string> => {
  const left = arrivals.toSorted((a, b) => a.at - b.at)
  const missing = messages
    .toSorted((a, b) => a.to - b.to)
    .flatMap((message) => {
      const { from, to } = message
      const found = left.findIndex(
        (arrived) => wordsOf(arrived) === wordsOf(message) && from <= arrived.at && arrived.at <= to + late,
      )
      if (found >= 0) left.splice(found, 1)
      return found >= 0 || to >= until ? [] : [`missing from ${from} to ${to}: ${wordsOf(message)}`]
    })
  const surplus = left.filter(({ at }) => at < until)
  return [...missing, ...surplus.map((arrived) => `surplus at ${arrived.at}: ${wordsOf(arrived)}`)]
}
