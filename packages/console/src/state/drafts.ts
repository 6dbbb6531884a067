import { computed, effect, type Signal, signal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { isSame } from "./isSame.ts"
import { attempt, keep, kept } from "./kept.ts"
import { route } from "./location.ts"
import { me, token, whenSignedOut } from "./session.ts"

const KEY = "tocsin.drafts"
/** Its value is the name of the present writer, and the mark of their token. */
const WRITER = ""
/** Its value is what a form changes. */
const BEGAN = "began"

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

/** Tells a token from others. It stands for its holder until the server has said who that is. */
const mark = computed(
  () => `#${[...token.value].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 0)}`,
)

/** After a reload, the page may be drawn before it is known who reads it: the one before, if the token is the same. */
const writer = computed(() => {
  const [name, of] = draftOf<ReadonlyArray<string>>(WRITER) ?? []
  return me.value?.name ?? (of === mark.value ? name : mark.value)
})

effect(() => {
  const { name } = me.value ?? {}
  if (name === undefined || token.value === "") return
  for (const [key, value] of drafts)
    if (key.startsWith(`${mark.value}\n`)) {
      const own = name + key.slice(mark.value.length)
      drafts.delete(key)
      if (!drafts.has(own)) drafts.set(own, value)
    }
  drafts.set(WRITER, [name, mark.value])
  store()
})

const keyOf = (form: string, field = ""): string => {
  const { page, subject } = route.peek()
  return [writer.peek(), [page, ...subject].join("/"), form, field].join("\n")
}

/** The keys of what waits for a form. */
const keysOf = (form: string): ReadonlyArray<string> =>
  [...drafts.keys()].filter((key) => key.startsWith(keyOf(form)))

/** Whether texts of a form wait. */
export const isWaiting = (form: string): boolean => keysOf(form).some((key) => key !== keyOf(form, BEGAN))

/** Forgets the texts of a form that was sent or given up. */
export const forgetDrafts = (form: string): void => {
  for (const key of keysOf(form)) drafts.delete(key)
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
  }, [writer.value])

/** The entry of a form as it was when the texts that wait for it began: so the form sees what others have changed since. */
export const useBegan = <A>(form: string, present: A): Signal<A> =>
  useMemo(() => {
    const key = keyOf(form, BEGAN)
    const began = signal((isWaiting(form) ? draftOf<A>(key) : undefined) ?? present)
    began.subscribe((value) => keepDraft(key, value))
    return began
  }, [])
