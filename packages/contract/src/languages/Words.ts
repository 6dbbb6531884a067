import type { en } from "./en.ts"

/** The names in braces of a text, each of which a translation has too. */
type Names<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? `${string}{${Name}}${string}` & Names<Rest>
  : string

type Translated<T, Plural extends string> = T extends string
  ? Names<T>
  : T extends { readonly other: infer Text extends string }
    ? Readonly<Record<Plural, Names<Text>>>
    : { readonly [Key in keyof T]: Translated<T[Key], Plural> }

/** The words of a language with these categories of `Intl.PluralRules`. */
export type Words<Plural extends string> = Translated<typeof en, Plural>

/** A text with what its names in braces stand for. */
export const fill = (text: string, values: Readonly<Record<string, number | string>>): string =>
  text.replaceAll(/\{(\w+)\}/gu, (whole, name: string) => String(values[name] ?? whole))
