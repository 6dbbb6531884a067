import { ApiFailure } from "../api/ApiFailure.ts"
import type { FormField, Texts } from "./FormField.ts"

type FormFields = Readonly<Record<string, FormField>>

/** A fault of the texts of a form, and the field that has it. */
export interface FormFault {
  readonly text: string
  readonly name?: string
}
export const STILL_HERE = "What you typed is still here"
/** Of a form whose thing somebody else changed meanwhile. */
export const changedText = (changed: string): string =>
  `Somebody changed this meanwhile: ${changed}. ${STILL_HERE}: save it to replace that.`
export const NO_FAULT: FormFault = { text: "" }

export const missingIn = (fields: FormFields, texts: Texts): FormFault | undefined => {
  const missing = Object.entries(fields).find(
    ([name, { isNeeded }]) => (texts[name] ?? "") === "" && isNeeded?.(texts) === true,
  )
  return missing && { name: missing[0], text: `${missing[1].label} is missing.` }
}

/** Of an input that is malformed, and of a name that is taken. */
const REFUSED = [400, 409]

/** Refuses the texts of a form, as the service does. */
export const refusal = (why: string): ApiFailure => new ApiFailure("validation", why, { status: 400 })

/** Whether the service refused the texts of a form, which says so and stays open. */
export const isRefusal = (error: unknown): error is ApiFailure =>
  error instanceof ApiFailure && REFUSED.includes(error.status ?? 0)

/** Of a label that says itself what must be. */
const SENTENCE = /\bmust\b/

/** A refusal of the service, in the words of the form. Other errors are thrown again. */
export const faultOf = (fields: FormFields, error: unknown): FormFault => {
  if (!isRefusal(error)) throw error
  const { message } = error
  for (const [name, { label, refusedAs }] of Object.entries(fields)) {
    const found = (refusedAs ?? new RegExp(`^${name}\\b`)).exec(message)
    if (found)
      return {
        name,
        text: `${label}${SENTENCE.test(label) ? ":" : ""}${message.slice(found.index + found[0].length)}`,
      }
  }
  return { text: message }
}
