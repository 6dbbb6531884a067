import { en } from "./en.ts"
import { type Language, localeOf } from "./Language.ts"
import type { Words } from "./Words.ts"

/** The words of a language, whatever plurals it has. */
export type AnyWords = Words<"other">

type Stated<T> = T extends "" ? never : T extends string ? T : { readonly [Key in keyof T]: Stated<T[Key]> }

/** A table, unless it has an empty word. */
const stated = <const T extends AnyWords>(words: T & Stated<T>): AnyWords => words

/** The words of each language, each loaded where a reader has it. An empty one is an error of the build. */
const loaders: Readonly<Record<Exclude<Language, "en">, () => Promise<AnyWords>>> = {
  de: () => import("./de.ts").then(({ de }) => stated(de)),
  fr: () => import("./fr.ts").then(({ fr }) => stated(fr)),
  es: () => import("./es.ts").then(({ es }) => stated(es)),
  it: () => import("./it.ts").then(({ it }) => stated(it)),
  nl: () => import("./nl.ts").then(({ nl }) => stated(nl)),
  pt: () => import("./pt.ts").then(({ pt }) => stated(pt)),
  pl: () => import("./pl.ts").then(({ pl }) => stated(pl)),
  sv: () => import("./sv.ts").then(({ sv }) => stated(sv)),
  cs: () => import("./cs.ts").then(({ cs }) => stated(cs)),
  ja: () => import("./ja.ts").then(({ ja }) => stated(ja)),
  zh: () => import("./zh.ts").then(({ zh }) => stated(zh)),
}

const loaded = new Map<Language, AnyWords>([["en", stated(en)]])

const load = (lang: Language): Promise<unknown> | undefined =>
  lang === "en" || loaded.has(lang) ? undefined : loaders[lang]().then((words) => loaded.set(lang, words))

/** Loads the words of languages, without which {@link wordsOf} has English ones. */
export const loadWords = (languages: Iterable<Language>): Promise<unknown> =>
  Promise.all(Array.from(new Set(languages), load))

/** The words of a language that was loaded (docs/rules.md#languages). */
export const wordsOf = (lang: Language): AnyWords => loaded.get(lang) ?? en

/** Keeps what is made of a key: objects of `Intl` take milliseconds to build. */
export const kept = <Key, Value>(make: (key: Key) => Value): ((key: Key) => Value) => {
  const made = new Map<Key, Value>()
  return (key) => {
    const value = made.get(key) ?? make(key)
    made.set(key, value)
    return value
  }
}

const countsOf = kept((lang: Language) => ({
  rules: new Intl.PluralRules(localeOf(lang)),
  numbers: new Intl.NumberFormat(localeOf(lang)),
}))

/** The form of a number, with that number in it. */
export const counted = (lang: Language, forms: { readonly other: string }, n: number): string => {
  const { numbers, rules } = countsOf(lang)
  const category = rules.select(n)
  const form = Object.entries(forms).find(([name]) => name === category)?.[1] ?? forms.other
  return form.replace("{n}", numbers.format(n))
}
