import { FiringModel } from "./FiringModel.ts"
import type { Message, Step, Story } from "./Story.ts"

/** A story with the times of its steps, and what the model expects of it. */
export interface Course {
  readonly steps: ReadonlyArray<Step & { readonly at: number }>
  /** Until when the order of all background work is certain. */
  readonly until: number
  readonly isCertain: boolean
  readonly messages: ReadonlyArray<Message>
}

const MINUTE = 60
const TAIL = 4 * 3_600

/**
 * Plays a story on the model. A step waits, a minute at a time, until the work before it is done. The
 * course ends where two pieces of background work could happen in either order.
 */
export const playModel = ({ begins, policy, receivers, steps }: Story, tail = TAIL): Course => {
  const model = new FiringModel(Date.parse(begins) / 1_000, policy, receivers)
  const played: Array<Step & { readonly at: number }> = []
  for (const step of steps) {
    let at = model.now + step.wait
    if (step.wait > 0 || model.isStopped || (step.step === "stops" && model.isUndecided)) {
      model.flush()
      model.advance(at)
      while ((model.isStopped || model.busyUntil >= model.now) && !model.isRacing)
        model.advance((at += MINUTE))
    }
    if (model.isRacing) break
    played.push({ ...step, at })
    model.take(step)
  }
  model.flush()
  const end = model.now + tail
  while (model.now < end && !model.isRacing) model.advance(Math.min(end, model.now + MINUTE))
  return { steps: played, until: model.now, isCertain: !model.isRacing, messages: model.messages }
}
