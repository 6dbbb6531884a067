import { signal, useSignal } from "@preact/signals"
import { type ApiFailure, asFailure } from "../api/ApiFailure.ts"
import { refresh } from "./revisions.ts"

/** A message of the page: what was done, and for a while how to undo it. */
export interface Message {
  readonly text: string
  readonly undo?: (() => Promise<Message>) | undefined
}

export const UNDONE: Message = { text: "Undone" }

/** Does something; there is no message if the reader changed their mind, or sees the result itself. */
export type Act = () => Promise<Message | undefined>

export const message = signal<Message | undefined>(undefined)
export const actionFailure = signal<ApiFailure | undefined>(undefined)

const UNDO_MILLIS = 10_000
let ending: ReturnType<typeof setTimeout> | undefined

const show = (next: Message): void => {
  clearTimeout(ending)
  message.value = next
  ending = setTimeout(() => (message.value = undefined), UNDO_MILLIS)
}

/**
 * Carries out an act: shows what was done or why not, then reads the page again. The message of the act
 * before leaves first: its Undo would be taken for that of this one.
 */
export const act = async (carryOut: Act): Promise<void> => {
  actionFailure.value = undefined
  message.value = undefined
  try {
    const done = await carryOut()
    if (done !== undefined) show(done)
  } catch (error) {
    actionFailure.value = asFailure(error)
  } finally {
    refresh()
  }
}

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

interface Question {
  readonly text: string
  readonly goAhead: string
  readonly isDanger: boolean
  readonly answer: (isYes: boolean) => void
}

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
