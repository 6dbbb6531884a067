import * as Instant from "@tocsin/contract/formats/Instant"
import { largestUnits } from "@tocsin/contract/formats/durationMillis"
import { numberText, sizedIn } from "@tocsin/contract/formats/numberText"
import { timeZoneOf } from "@tocsin/contract/formats/zoneClocks"
import { zonedText } from "@tocsin/contract/formats/zonedText"
import { type Language, localeOf } from "@tocsin/contract/languages/Language"
import { type AnyWords, counted, kept, wordsOf } from "@tocsin/contract/languages/Languages"
import { withoutMarks } from "./phoneLetters.ts"

/** How a text is written: in full, as short as may be and in the letters of phones, or as a voice says it. */
export type TextForm = "written" | "brief" | "spoken"

/** The reader of a message: a language, English unless given, and a time zone, UTC unless given. */
export interface Reader {
  readonly lang?: Language | undefined
  readonly tz?: string | undefined
}

type Precision = "second" | "minute"

/** The words of a reader, and how times, lengths, counts and names read among them. */
export interface ReaderTexts {
  readonly words: AnyWords
  /** A moment; `brief` without day and zone. */
  readonly time: (at: Instant.Instant, precision: Precision) => string
  /** A length in its two largest units. */
  readonly length: (seconds: number) => string
  readonly names: (names: ReadonlyArray<string>) => string
  readonly counted: (forms: { readonly other: string }, n: number) => string
  /** How long something took, to four digits. */
  readonly took: (seconds: number) => string
}

const UNITS: Readonly<Record<string, string>> = {
  d: "day",
  h: "hour",
  m: "minute",
  min: "minute",
  s: "second",
  ms: "millisecond",
  µs: "microsecond",
}

const englishPart =
  (form: TextForm) =>
  ({ count, unit }: { readonly count: number; readonly unit: string }): string => {
    if (form !== "spoken") return `${count} ${unit === "m" ? "min" : unit}`
    return `${count} ${UNITS[unit]}${count === 1 ? "" : "s"}`
  }

const inEnglish = (tz: string | undefined, form: TextForm): ReaderTexts => ({
  words: wordsOf("en"),
  time: (at, precision) => {
    const text = zonedText(at, tz, precision)
    return form === "brief" ? (text.split(" ")[1] ?? "") : text
  },
  length: (seconds) =>
    largestUnits(seconds, 2).map(englishPart(form)).join(" ") ||
    (form === "spoken" ? wordsOf("en").call.instant : "0 s"),
  names: (names) => names.join(", "),
  counted: (forms, n) => forms.other.replace("{n}", String(n)),
  took: (seconds) => numberText(seconds, "s"),
})

const MINUTES = { hour: "2-digit", minute: "2-digit" } as const
const DAYS = { day: "numeric", month: "short", year: "numeric", timeZoneName: "short" } as const

const unmarked = (text: string): string => Array.from(text, withoutMarks).join("")

/** The same words in letters that every phone has. */
const unmarkedWords = kept((words: AnyWords): AnyWords => {
  const each = (value: unknown): unknown =>
    typeof value === "string"
      ? unmarked(value)
      : Object.fromEntries(Object.entries(Object(value)).map(([name, inner]) => [name, each(inner)]))
  // Names stay, and lead to texts or further names as before.
  return each(words) as AnyWords
})

/** Their letters have no others that are like them. */
const WITHOUT_LATIN: ReadonlySet<Language> = new Set(["ja", "zh"])

const inLanguage = (lang: Language, tz: string | undefined, form: TextForm): ReaderTexts => {
  const locale = localeOf(lang)
  const timeZone = timeZoneOf(tz ?? "UTC")?.name ?? "UTC"
  const formats = kept(
    (precision: Precision) =>
      new Intl.DateTimeFormat(locale, {
        timeZone,
        ...MINUTES,
        ...(form !== "brief" && { ...DAYS, ...(precision === "second" && { second: "2-digit" }) }),
      }),
  )
  const numbers = kept(
    (unit: string) =>
      new Intl.NumberFormat(locale, {
        style: "unit",
        unit: UNITS[unit],
        unitDisplay: form === "spoken" || lang === "ja" ? "long" : "short",
        maximumSignificantDigits: 4,
      }),
  )
  const parts = new Intl.ListFormat(locale, { type: "unit", style: "narrow" })
  const list = new Intl.ListFormat(locale, { type: "conjunction" })
  const isUnmarked = form === "brief" && !WITHOUT_LATIN.has(lang)
  const shown = (text: string): string => (isUnmarked ? unmarked(text) : text)
  // Japanese has no spaces between a number and its unit, though ICU writes them.
  const length = (text: string): string => shown(lang === "ja" ? text.replaceAll(" ", "") : text)
  return {
    get words() {
      return isUnmarked ? unmarkedWords(wordsOf(lang)) : wordsOf(lang)
    },
    time: (at, precision) => shown(formats(precision).format(Instant.toMillis(at))),
    length: (seconds) => {
      const said = largestUnits(seconds, 2).map(({ count, unit }) => numbers(unit).format(count))
      if (said.length > 0) return length(parts.format(said))
      return form === "spoken" ? wordsOf(lang).call.instant : length(numbers("s").format(0))
    },
    names: (names) => list.format(names),
    counted: (forms, n) => shown(counted(lang, forms, n)),
    took: (seconds) => {
      const { size, unit } = sizedIn("s", seconds)
      return length(numbers(unit).format(seconds / size))
    },
  }
}

const known = kept((key: string) => {
  // The three parts of a key, in their order.
  const [lang, form, tz] = key.split(" ") as [Language, TextForm, string]
  return lang === "en" ? inEnglish(tz || undefined, form) : inLanguage(lang, tz || undefined, form)
})

/** The texts of a reader in a form (docs/rules.md#languages). */
export const readerTexts = ({ lang = "en", tz = "" }: Reader, form: TextForm = "written"): ReaderTexts =>
  known(`${lang} ${form} ${tz}`)
