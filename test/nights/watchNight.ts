import * as Instant from "@tocsin/contract/formats/Instant"
import { Effect } from "effect"
import { playService } from "../firings/playService.ts"
import { type Cause, rankOf, type Step, type Story } from "../firings/Story.ts"
import type { Attempt } from "../service/Receivers.ts"

/** An attempt, as its receiver saw it. Times are seconds of the night. */
export interface Seen {
  readonly at: number
  readonly id: string
  readonly incident: string
  readonly key: string
  readonly opened: number
  readonly receiver: string
  readonly event: "firing" | "resolved"
  readonly cause: Cause | undefined
  readonly rank: number
  readonly outcome: "delivered" | "deferred" | "refused" | "cut off"
  /** For how many seconds the receiver asked to wait. */
  readonly retryAfter: number
}

/** One thing that happened in a night. */
export type Happened =
  | { readonly is: "step"; readonly at: number; readonly step: Step }
  | { readonly is: "attempt" | "end"; readonly at: number; readonly seen: Seen }

/** The steps of a night with their times. */
const timed = (steps: ReadonlyArray<Step>) => {
  let now = 0
  return steps.map((step) => {
    const at = now + step.wait
    now = step.step === "stops" ? at + step.lasts : at
    return { ...step, at }
  })
}

const TAIL = 3_000

/** When a night ends. */
export const endOf = ({ steps }: Story): number => (timed(steps).at(-1)?.at ?? 0) + TAIL

const seenOf = ({ answer, isAnswered, notification: one }: Attempt, at: number, begins: number): Seen => ({
  at,
  id: one.id,
  incident: one.incident.id,
  key: one.incident.incident_key,
  opened: Number(one.incident.opened_at) / 1e6 - begins,
  receiver: one.receiver,
  event: one.event_type,
  cause: one.cause,
  rank: rankOf(one.severity),
  outcome:
    isAnswered && (answer.outcome === "deferred" || answer.outcome === "refused")
      ? answer.outcome
      : isAnswered
        ? "delivered"
        : "cut off",
  retryAfter: answer.retryAfterSeconds ?? 0,
})

/** Plays a night on the service. Says what happened, in its order. */
export const watchNight = Effect.fnUntraced(function* (
  story: Story,
  options: Pick<
    NonNullable<Parameters<typeof playService>[2]>,
    "storage" | "ids" | "replicas" | "rests"
  > = {},
) {
  const begun: Array<Step | Attempt> = []
  const times: Array<number> = []
  let steps = 0
  const course = timed(story.steps)
  yield* playService(
    story,
    { steps: course, until: endOf(story) },
    {
      hints: true,
      rests: true,
      ...options,
      watcher: {
        onStep: (step) => {
          begun.push(step)
          times.push(course[steps++]?.at ?? 0)
        },
        onAttempt: (attempt, at) => {
          begun.push(attempt)
          times.push(at)
        },
      },
    },
  )
  return inOrder(begun, times, Date.parse(story.begins) / 1_000)
})

/** Steps, attempts and their ends, in the order in which they happened. */
const inOrder = (
  begun: ReadonlyArray<Step | Attempt>,
  times: ReadonlyArray<number>,
  begins: number,
): ReadonlyArray<Happened> => {
  const all: Array<Happened> = []
  let ends: Array<Happened> = []
  const end = (until: number) => {
    all.push(...ends.filter(({ at }) => at <= until).toSorted((one, other) => one.at - other.at))
    ends = ends.filter(({ at }) => at > until)
  }
  for (const [place, one] of begun.entries()) {
    const at = times[place] ?? 0
    end(at)
    if ("step" in one) all.push({ is: "step", at, step: one })
    else {
      const seen = seenOf(one, at, begins)
      all.push({ is: "attempt", at, seen })
      const lasts = one.endedAt === undefined ? 0 : Instant.secondsBetween(one.startedAt, one.endedAt)
      ends.push({ is: "end", at: at + lasts, seen })
    }
  }
  end(Infinity)
  return all
}
