import { signal } from "@preact/signals"
import { useMemo, useRef } from "preact/hooks"
import { useDraft } from "../state/drafts.ts"
import type { FormField, Texts } from "./FormField.ts"

type Fields = Readonly<Record<string, FormField>>

const HAS_PASSWORD = /:\/\/[^/\s]*@/

/** The texts that wait for their writer, with those that they replace: but for secrets, which are written again. */
const waitingOf = (
  fields: Fields,
  texts: Texts,
  began: Texts,
): Readonly<Record<string, ReadonlyArray<string>>> =>
  Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => {
      const { [name]: replaced = "" } = began
      const isSecret = fields[name]?.type === "password" || HAS_PASSWORD.test(`${text} ${replaced}`)
      return isSecret || text === replaced ? [] : [[name, [text, replaced]]]
    }),
  )

/** The texts of a form, with those that waited, and what others wrote since where these have something else. */
export const useFormTexts = (form: string, fields: Fields) => {
  const initial: Texts = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, field.initial ?? ""]),
  )
  const began = useRef(initial)
  const waiting = useDraft<ReturnType<typeof waitingOf>>(form, "", {})
  const texts = useMemo(() => {
    const found = Object.entries(waiting.peek()).filter(([name]) => Object.hasOwn(fields, name))
    const textsAt = (place: 0 | 1): Texts => ({
      ...initial,
      ...Object.fromEntries(found.map(([name, pair]) => [name, pair[place] ?? ""])),
    })
    began.current = textsAt(1)
    const given = signal(textsAt(0))
    given.subscribe((present) => (waiting.value = waitingOf(fields, present, began.current)))
    return given
  }, [waiting])
  const changed = Object.entries(initial).flatMap(([name, text]) =>
    [began.current[name], texts.value[name]].includes(text)
      ? []
      : `${fields[name]?.label} is ${text || "empty"}`,
  )
  return {
    texts,
    changed: changed.join(", "),
    empty: (): void => {
      began.current = initial
      texts.value = initial
    },
  }
}
