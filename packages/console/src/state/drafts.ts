import { effect, type Signal, signal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { isSame } from "./isSame.ts"
import { attempt, keep, kept } from "./kept.ts"
import { route } from "./location.ts"
import { me, whenSignedOut } from "./session.ts"

const KEY = "tocsin.drafts"
/** Its value is the name of the present writer. */
const WRITER = ""

/** Unsent texts by their writer, page, form and field: they wait while the tab is open, also after it was loaded again. */
const drafts =
  attempt(
    // Anyone can have written anything into it.
    () => new Map(kept("sessionStorage", KEY) as Iterable<readonly [string, unknown]>),
  ) ?? new Map<string, unknown>()

const store = (): void => void keep("sessionStorage", KEY, [...drafts])

whenSignedOut(async () => {
  drafts.clear()
  store()
})

/** A waiting text: of the type that its writer gave it. */
export const draftOf = <A>(key: string): A | undefined => drafts.get(key) as A | undefined

/** Lets a text wait, or forgets it. */
export const keepDraft = (key: string, value: unknown): void => {
  if (isSame(value, drafts.get(key))) return
  if (value === undefined) drafts.delete(key)
  else drafts.set(key, value)
  store()
}

effect(() => {
  const { name } = me.value ?? {}
  // After a reload, the page may be drawn before it is known who reads it: the one before.
  if (name !== undefined) keepDraft(WRITER, name)
})

const keyOf = (form: string, field = ""): string => {
  const { page, subject } = route.peek()
  return [drafts.get(WRITER), [page, ...subject].join("/"), form, field].join("\n")
}

/** Forgets the texts of a form that was sent or given up. */
export const forgetDrafts = (form: string): void => {
  for (const key of drafts.keys()) if (key.startsWith(keyOf(form))) drafts.delete(key)
  store()
}

/**
 * The text of a field, by the name of its form and its own: its writer finds it again until it is sent or given up,
 * wherever they have been. No secret may be in it.
 */
export const useDraft = <A>(form: string, field: string, initial: A): Signal<A> =>
  useMemo(() => {
    const key = keyOf(form, field)
    const draft = signal(draftOf<A>(key) ?? initial)
    // An effect of the page would come after it is painted, and miss what was typed before.
    draft.subscribe((value) => keepDraft(key, isSame(value, initial) ? undefined : value))
    return draft
  }, [])
