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
export const act = async (carryOut: () => Promise<Message | undefined>): Promise<boolean> => {
  actionFailure.value = undefined
  try {
    const done = await carryOut()
    if (done !== undefined) show(done)
    return true
  } catch (error) {
    actionFailure.value = asFailure(error)
    return false
  } finally {
    refresh()
  }
}

/** An act that shows whether it is under way. */
export const useAction = () => {
  const isBusy = useSignal(false)
  const run = async (carryOut: () => Promise<Message | undefined>): Promise<boolean> => {
    if (isBusy.value) return false
    isBusy.value = true
    const done = await act(carryOut)
    isBusy.value = false
    return done
  }
  return { isBusy, run }
}
