import { FiringModel } from "./FiringModel.ts"
import { type Episodes, IN_FORCE } from "./inForce.ts"
import type { Attempted, Message, OnCall, Step, Story, Traced } from "./Story.ts"

/** A step at a second of the story; `key` is that of the incident that it selects. */
type Played = Step & { readonly at: number; readonly key?: string | undefined }

/** A story with the times of its steps, and what the model expects of it. */
export interface Course {
  readonly steps: ReadonlyArray<Played>
  /** Until when the order of all background work is certain. */
  readonly until: number
  readonly isCertain: boolean
  readonly messages: ReadonlyArray<Message>
  readonly attempts: ReadonlyArray<Attempted>
  readonly trace: ReadonlyArray<Traced>
  /** The receivers on call at the end, by incident, that have been notified or are about to be. */
  readonly onCall: ReadonlyArray<OnCall>
}

const MINUTE = 60
const TAIL = 4 * 3_600

const changesRotas = (step: Step): boolean =>
  step.step === "override" ||
  step.step === "end_override" ||
  (step.step === "policy" && step.policy.rotas !== undefined)

/**
 * Plays a story on the model. A step waits, a minute at a time, until the work before it is done. The
 * course ends where two pieces of background work could happen in either order.
 */
export const playModel = (story: Story, tail = TAIL, on: Episodes = IN_FORCE): Course => {
  const model = new FiringModel(story, on)
  const played: Array<Played> = []
  for (const step of story.steps) {
    let at = model.now + step.wait
    const last = played.at(-1)
    // A service notices seconds later that its clock was set back, and holds what it decides meanwhile.
    const isOfClock = step.step === "clock_back" || last?.step === "clock_back"
    // The pass that follows a change of rotas could come before the next step, or after it.
    const isOfRotas = last !== undefined && changesRotas(last)
    const isApart = step.wait > 0 || isOfClock || isOfRotas
    if (isApart || model.isStopped || (step.step === "stops" && model.isUndecided)) {
      model.flush()
      model.advance(at)
      while ((model.isStopped || model.busyUntil >= model.now) && model.racingFrom === Infinity)
        model.advance((at += MINUTE))
    }
    if (model.racingFrom < Infinity) break
    played.push({ ...step, at, ...("which" in step && { key: model.pick(step.which)?.key }) })
    model.take(step)
  }
  model.flush()
  const end = model.now + tail
  while (model.now < end && model.racingFrom === Infinity) model.advance(Math.min(end, model.now + MINUTE))
  return {
    steps: played,
    until: Math.min(model.now, model.racingFrom),
    isCertain: model.racingFrom === Infinity,
    messages: model.messages,
    attempts: model.attempts,
    trace: model.trace,
    onCall: model.racingFrom === Infinity ? model.onCall() : [],
  }
}
