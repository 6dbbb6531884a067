import { type Language, localeOf } from "@tocsin/contract/languages/Language"
import { counted, kept, wordsOf } from "@tocsin/contract/languages/Languages"
import { momentIn } from "@tocsin/contract/publicPages/announcementTexts"
import type { BuiltPage } from "@tocsin/core/features/publicPages/PublicPages"

/** English pages have days as the JSON does. */
const dayIn = (lang: Language): ((date: string) => string) => {
  if (lang === "en") return (date) => date
  const format = new Intl.DateTimeFormat(localeOf(lang), { dateStyle: "medium", timeZone: "UTC" })
  return (date) => format.format(Date.parse(date))
}

/** So many hours and minutes, in words. */
const lastingIn = (locale: string): ((minutes: number) => string) => {
  const unit = (name: string) =>
    new Intl.NumberFormat(locale, { style: "unit", unit: name, unitDisplay: "long" })
  const [hours, rest] = [unit("hour"), unit("minute")]
  const list = new Intl.ListFormat(locale, { type: "unit", style: "narrow" })
  return (minutes) =>
    list.format([
      ...(minutes < 60 ? [] : [hours.format(Math.floor(minutes / 60))]),
      ...(minutes >= 60 && minutes % 60 === 0 ? [] : [rest.format(minutes % 60)]),
    ])
}

const makeTexts = (lang: Language) => {
  const locale = localeOf(lang)
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
  const ago = new Intl.RelativeTimeFormat(locale, { numeric: "always" })
  const today = new Intl.RelativeTimeFormat(locale, { numeric: "auto" })
  return {
    lang,
    locale,
    words: wordsOf(lang),
    day: dayIn(lang),
    lasting: lastingIn(locale),
    number: (value: number): string => number.format(value),
    daysAgo: (days: number): string => ago.format(-days, "day"),
    today: today.format(0, "day"),
    counted: (forms: { readonly other: string }, n: number): string => counted(lang, forms, n),
  }
}

const textsOf = kept(makeTexts)
const momentsOf = kept((key: string) => {
  const [tz = "", locale] = key.split(" ")
  return momentIn(tz, locale)
})

/** The words of a page, and how its language writes times, days and numbers (docs/rules.md#languages). */
export const pageTexts = ({ lang, tz }: Pick<BuiltPage, "lang" | "tz">) => {
  const texts = textsOf(lang)
  return { ...texts, moment: momentsOf(lang === "en" ? tz : `${tz} ${texts.locale}`) }
}
export type PageTexts = ReturnType<typeof pageTexts>
