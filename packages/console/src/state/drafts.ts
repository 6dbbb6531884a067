import { type Signal, signal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import { route } from "./location.ts"
import { routeText } from "./Route.ts"
import { lostName, me } from "./session.ts"

/** Unsent texts of fields that have left the page, by their writer, their page and their field. */
const drafts = new Map<string, Signal<unknown>>()

/** Tokens of the settings have no names that tell their users apart. */
const keyOf = (name: string, field: string): string =>
  `${name.replace(/^token-.*/, "token-")} ${routeText(route.peek())} ${field}`

/**
 * The text being written in a field. Its writer finds it again after a token that was lost meanwhile; where it is kept,
 * also after another form took its place on the page.
 */
export const useDraft = <A>(
  field: string,
  initial: A,
  isKept: (written: A) => boolean = () => false,
): Signal<A> => {
  const draft = useMemo(() => {
    const key = keyOf(me.peek()?.name ?? "", field)
    const kept = drafts.get(key)
    drafts.delete(key)
    // Each field has values of one type.
    return (kept as Signal<A> | undefined) ?? signal(initial)
  }, [])
  useEffect(
    () => () => {
      const name = lostName.peek() || (isKept(draft.peek()) && me.peek()?.name)
      if (name) drafts.set(keyOf(name, field), draft)
    },
    [],
  )
  return draft
}
