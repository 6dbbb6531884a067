import { signal } from "@preact/signals"

/** A question before an act that cannot be taken back. */
export interface Question {
  readonly text: string
  /** The label of the button that goes ahead. */
  readonly goAhead: string
  /** Whether that button warns. */
  readonly isDanger: boolean
  readonly answer: (isYes: boolean) => void
}

/** The question that waits for its answer. */
export const question = signal<Question | undefined>(undefined)

/** Asks; resolves with whether to go ahead. A question before it is answered with no. */
export const confirmed = (text: string, goAhead: string, isDanger = true): Promise<boolean> => {
  question.peek()?.answer(false)
  return new Promise((resolve) => {
    const answer = (isYes: boolean): void => {
      question.value = undefined
      resolve(isYes)
    }
    question.value = { text, goAhead, isDanger, answer }
  })
}
