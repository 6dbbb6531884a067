import type { Answer } from "./Answer.ts"
import { EVENTS_PER_BATCH, type Step } from "./Load.ts"

const ACCEPTED = 202

const bodies: Readonly<Record<Step, string>> = {
  heartbeat: JSON.stringify({ accepted: true }),
  unchanged: JSON.stringify({ accepted: 0, deduplicated: EVENTS_PER_BATCH }),
  changing: JSON.stringify({ accepted: EVENTS_PER_BATCH, deduplicated: 0 }),
}

/** The correct answer to this step. */
export const expectedBody = (step: Step): string => bodies[step]

const sorted = (text: string): string => JSON.stringify(Object.entries(JSON.parse(text)).sort())

/** The error of an answer, or undefined. */
export const faultOf = (step: Step, answer: Answer): string | undefined => {
  const expected = expectedBody(step)
  if (answer.status === ACCEPTED) {
    if (answer.body === expected) return undefined
    if (answer.body.startsWith("{") && sorted(answer.body) === sorted(expected)) return undefined
  }
  return `${step}: answered ${answer.status} ${answer.body.slice(0, 300)} instead of ${ACCEPTED} ${expected}`
}
