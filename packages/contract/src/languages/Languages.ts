import { cs } from "./cs.ts"
import { de } from "./de.ts"
import { en } from "./en.ts"
import { es } from "./es.ts"
import { fr } from "./fr.ts"
import { it } from "./it.ts"
import { ja } from "./ja.ts"
import { type Language, localeOf } from "./Language.ts"
import { nl } from "./nl.ts"
import { pl } from "./pl.ts"
import { pt } from "./pt.ts"
import { sv } from "./sv.ts"
import type { Words } from "./Words.ts"
import { zh } from "./zh.ts"

const languages = { en, de, fr, es, it, nl, pt, pl, sv, cs, ja, zh } as const

type Stated<T> = T extends "" ? never : T extends string ? T : { readonly [Key in keyof T]: Stated<T[Key]> }

/** The words of each language (docs/rules.md#languages). An empty one is an error of the build. */
export const LANGUAGES: Readonly<Record<Language, AnyWords>> & Stated<typeof languages> = languages

/** The words of a language, whatever plurals it has. */
export type AnyWords = Words<"other">

/** The form of a number, with that number in it. */
export const counted = (lang: Language, forms: { readonly other: string }, n: number): string => {
  const category = new Intl.PluralRules(localeOf(lang)).select(n)
  const form = Object.entries(forms).find(([name]) => name === category)?.[1] ?? forms.other
  return form.replace("{n}", new Intl.NumberFormat(localeOf(lang)).format(n))
}
