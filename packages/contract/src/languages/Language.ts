import { Schema } from "effect"

/** A language of readers, as the policy writes it (docs/rules.md#languages). */
export const Language = Schema.Literals([
  "en",
  "de",
  "fr",
  "es",
  "it",
  "nl",
  "pt",
  "pl",
  "sv",
  "cs",
  "ja",
  "zh",
])
export type Language = typeof Language.Type

/** The language as HTML, XML and `Intl` name it. */
export const localeOf = (lang: Language): string =>
  lang === "pt" ? "pt-BR" : lang === "zh" ? "zh-Hans" : lang
