const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const

/** A span as people read it at a glance: its two largest units, `2h 5m`. */
export const spanText = (millis: number): string => {
  let left = Math.floor(Math.abs(millis) / 1_000)
  const parts: Array<string> = []
  for (const [unit, seconds] of UNITS) {
    const count = Math.floor(left / seconds)
    left -= count * seconds
    if (count > 0) parts.push(`${count}${unit}`)
    // A unit that is followed by a zero stands alone: "2h", not "2h 30s".
    else if (parts.length > 0) break
    if (parts.length === 2) break
  }
  return parts.length === 0 ? "0s" : parts.join(" ")
}

/** How long ago, or in how long: `5m ago`, `in 2h`. */
export const relativeText = (at: string, now: number): string => {
  const millis = Date.parse(at) - now
  if (!Number.isFinite(millis)) return at
  if (Math.abs(millis) < 1_000) return "now"
  // Seconds beside minutes would only make the page restless.
  const span = Math.abs(millis) < 60_000 ? millis : Math.floor(Math.abs(millis) / 60_000) * 60_000
  return millis < 0 ? `${spanText(span)} ago` : `in ${spanText(span)}`
}

// Making a format takes longer than drawing a row.
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" })

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" })
const brief = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
})

/** A moment of these days in the reader's zone, to the minute; of today, the time alone. */
export const momentText = (millis: number, now: number): string =>
  (new Date(millis).toDateString() === new Date(now).toDateString() ? clock : brief).format(millis)

/** The exact time, in the reader's zone and, where that is another one, in UTC. */
export const exactText = (at: string): string => {
  const millis = Date.parse(at)
  if (!Number.isFinite(millis)) return at
  if (exact.resolvedOptions().timeZone === "UTC") return exact.format(millis)
  return `${exact.format(millis)} · ${at.slice(0, 19).replace("T", " ")} UTC`
}

const grouped = new Intl.NumberFormat("en")

/** A number with its thousands grouped. */
export const numberText = (value: number): string => grouped.format(value)

/** A count with its noun: `1 incident`, `2 agents`. */
export const countText = (count: number, noun: string): string =>
  `${numberText(count)} ${noun}${count === 1 ? "" : "s"}`
