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
  /** A moment; `brief` without day and zone, `spoken` without seconds and year, and without the day of `today`. */
  readonly time: (at: Instant.Instant, precision: Precision, today?: Instant.Instant) => string
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

const dayOf = (at: Instant.Instant | undefined, tz: string | undefined): string =>
  at === undefined ? "" : zonedText(at, tz).slice(0, "2026-01-31".length)

const MONTH_DAY = new Intl.DateTimeFormat("en-US", { month: "long", day: "numeric", timeZone: "UTC" })

/** The times of a text, as {@link zonedText} writes them. */
const WRITTEN = /(\d{4}-\d\d-\d\d) (\d\d:\d\d)(?::\d\d)? ([A-Z][A-Z\d+:-]*)/g

/** A text whose times are said, without the day of `today` in a zone: `03:00 UTC on November 30`. */
export const saidTimes = (
  text: string,
  today: Instant.Instant | undefined,
  tz: string | undefined,
): string => {
  const said = dayOf(today, tz)
  return text.replaceAll(WRITTEN, (_whole, day: string, clock: string, zone: string) => {
    const at = Instant.parse(`${day}T00:00:00Z`)
    const on = day === said || at === undefined ? "" : ` on ${MONTH_DAY.format(Instant.toMillis(at))}`
    return `${clock} ${zone}${on}`
  })
}

const inEnglish = (tz: string | undefined, form: TextForm): ReaderTexts => ({
  words: wordsOf("en"),
  time: (at, precision, today) => {
    const text = zonedText(at, tz, precision)
    if (form === "spoken") return saidTimes(text, today, tz)
    return form === "brief" ? (text.split(" ")[1] ?? "") : text
  },
  length: (seconds) =>
    largestUnits(seconds, 2).map(englishPart(form)).join(" ") ||
    (form === "spoken" ? wordsOf("en").call.instant : "0 s"),
  names: (names) => names.join(", "),
  counted: (forms, n) => forms.other.replace("{n}", String(n)),
  took: (seconds) => numberText(seconds, "s"),
})

const DAYS = { day: "numeric", month: "short", year: "numeric", timeZoneName: "short" } as const

/** The parts of a time beside hours and minutes. */
const TIMES = {
  second: { ...DAYS, second: "2-digit" },
  minute: DAYS,
  brief: {},
  today: { timeZoneName: "short" },
  spoken: { day: "numeric", month: "long", timeZoneName: "short" },
} as const

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
    (shape: keyof typeof TIMES) =>
      new Intl.DateTimeFormat(locale, { timeZone, hour: "2-digit", minute: "2-digit", ...TIMES[shape] }),
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
    time: (at, precision, today) => {
      const isToday = form === "spoken" && dayOf(at, timeZone) === dayOf(today, timeZone)
      const shape = isToday ? "today" : form === "written" ? precision : form
      return shown(formats(shape).format(Instant.toMillis(at)))
    },
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
