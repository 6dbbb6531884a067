import { type Signal, signal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import { route } from "./location.ts"
import { routeText } from "./Route.ts"
import { lostName, me } from "./session.ts"

/** Unsent texts of fields that have left the page, by their writer, their page and their field. */
const drafts = new Map<string, Signal<unknown>>()

const placeOf = (field: string): string => `${routeText(route.peek())} ${field}`

/**
 * The text being written in a field. Its writer finds it again after a token that was lost meanwhile; where it is kept,
 * also after another form took its place on the page.
 */
export const useDraft = <A>(field: string, initial: A, isKept = false): Signal<A> => {
  const [draft, opened] = useMemo(() => {
    const place = placeOf(field)
    const key = `${me.peek()?.name} ${place}`
    const kept = drafts.get(key)
    drafts.delete(key)
    // Each field has values of one type.
    return [(kept as Signal<A> | undefined) ?? signal(initial), place] as const
  }, [])
  useEffect(
    () => () => {
      const lost = lostName.peek()
      const name = lost || (isKept && me.peek()?.name)
      // Of one who left, the address is that of the next page; of a lost token, it is where its owner comes back.
      if (name) drafts.set(`${name} ${lost ? placeOf(field) : opened}`, draft)
    },
    [],
  )
  return draft
}
