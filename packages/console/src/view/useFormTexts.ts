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
      const isKept =
        fields[name]?.type !== "password" && ![text, replaced].some((each) => HAS_PASSWORD.test(each))
      return isKept && text !== replaced ? [[name, [text, replaced]]] : []
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
    const [written = {}, replaced = {}] = [0, 1].map((place) =>
      Object.fromEntries(found.map(([name, pair]) => [name, pair[place] ?? ""])),
    )
    began.current = { ...initial, ...replaced }
    const given = signal<Texts>({ ...initial, ...written })
    given.subscribe((present) => (waiting.value = waitingOf(fields, present, began.current)))
    return given
  }, [waiting])
  const changes = Object.keys(initial).filter(
    (name) => initial[name] !== began.current[name] && initial[name] !== texts.value[name],
  )
  return {
    texts,
    changed: changes.map((name) => `${fields[name]?.label} is ${initial[name] || "empty"}`).join(", "),
    empty: (): void => {
      began.current = initial
      texts.value = initial
    },
  }
}
