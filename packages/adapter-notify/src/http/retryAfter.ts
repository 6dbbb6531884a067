import * as Instant from "@tocsin/contract/Instant"

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
const MICROS_PER_SECOND = 1_000_000n

const WEEKDAY = "(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?"
const TIME = String.raw`(?<time>\d{2}:\d{2}:\d{2})`
const MONTH = `(?<month>${MONTHS.join("|")})`

/**
 * The three forms of an HTTP-date; senders use the first, recipients take all (RFC 9110 §5.6.7).
 */
const HTTP_DATES = [
  new RegExp(String.raw`^${WEEKDAY}, (?<day>\d{2}) ${MONTH} (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^${WEEKDAY}, (?<day>\d{2})-${MONTH}-(?<year>\d{2}) ${TIME} GMT$`),
  new RegExp(String.raw`^${WEEKDAY} ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
]

const parseHttpDate = (text: string, now: Instant.Instant): Instant.Instant | undefined => {
  for (const form of HTTP_DATES) {
    const { day, month, year, time } = form.exec(text)?.groups ?? {}
    if (day === undefined || month === undefined || year === undefined) continue
    const monthNumber = (MONTHS.indexOf(month) + 1).toString().padStart(2, "0")
    // A year of two digits is in this century.
    const century = Instant.format(now).slice(0, 2)
    return Instant.parse(
      `${year.padStart(4, century)}-${monthNumber}-${day.trim().padStart(2, "0")}T${time}Z`,
    )
  }
  return undefined
}

/**
 * The seconds that a Retry-After header asks to wait from `now`, at least 0 (RFC 9110 §10.2.3);
 * `undefined` without a valid one.
 */
export const parseRetryAfter = (header: string | undefined, now: Instant.Instant): number | undefined => {
  const text = header?.trim() ?? ""
  if (/^\d+$/.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
  const date = parseHttpDate(text, now)
  if (date === undefined) return undefined
  const micros = date - now
  return micros > 0n ? Number((micros + MICROS_PER_SECOND - 1n) / MICROS_PER_SECOND) : 0
}
