import { signal, useSignal } from "@preact/signals"
import { type ApiFailure, asFailure } from "../api/ApiFailure.ts"
import { refresh } from "./revisions.ts"

/** A message of the page: what was done, and for a while how to undo it. */
export interface Message {
  readonly text: string
  readonly undo?: (() => Promise<Message>) | undefined
}

/** The message after everything was undone. */
export const UNDONE: Message = { text: "Undone" }

/** Does something; there is no message if the reader changed their mind, or sees the result itself. */
export type Act = () => Promise<Message | undefined>

/** The message of the last action. */
export const message = signal<Message | undefined>(undefined)
/** Why the last act failed. */
export const actionFailure = signal<ApiFailure | undefined>(undefined)

const UNDO_MILLIS = 10_000
let ending: ReturnType<typeof setTimeout> | undefined

/** Shows a message for as long as it can be undone. */
const show = (next: Message): void => {
  clearTimeout(ending)
  message.value = next
  ending = setTimeout(() => (message.value = undefined), UNDO_MILLIS)
}

/** Carries out an act: shows what was done or why not, then reads the page again. */
export const act = async (carryOut: Act): Promise<void> => {
  actionFailure.value = undefined
  try {
    const done = await carryOut()
    if (done !== undefined) show(done)
  } catch (error) {
    actionFailure.value = asFailure(error)
  } finally {
    refresh()
  }
}

/** An act that shows whether it is under way. */
export const useAction = () => {
  const isBusy = useSignal(false)
  const run = async (carryOut: Act): Promise<void> => {
    if (isBusy.value) return
    isBusy.value = true
    await act(carryOut)
    isBusy.value = false
  }
  return { isBusy, run }
}

/** A question before an act that cannot be taken back. */
interface Question {
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
