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

/** The voice of calls in a language. */
export const voiceOf = (lang: Language): string => VOICES[lang]

const VOICES: Readonly<Record<Language, string>> = {
  en: "en-US",
  de: "de-DE",
  fr: "fr-FR",
  es: "es-ES",
  it: "it-IT",
  nl: "nl-NL",
  pt: "pt-BR",
  pl: "pl-PL",
  sv: "sv-SE",
  cs: "cs-CZ",
  ja: "ja-JP",
  zh: "zh-CN",
}
