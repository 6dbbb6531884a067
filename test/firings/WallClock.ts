/** The clocks of time zones in the year of all stories, by plain arithmetic. All times are seconds since 1970. */

/** From when on a clock is so many minutes ahead of UTC. */
const CLOCKS: Readonly<Record<string, ReadonlyArray<readonly [from: string, minutes: number]>>> = {
  UTC: [["2030-01-01T00:00Z", 0]],
  "Europe/Berlin": [
    ["2030-12-01T00:00Z", 60],
    ["2031-03-30T01:00Z", 120],
    ["2031-10-26T01:00Z", 60],
  ],
  "America/Santiago": [
    ["2030-12-01T00:00Z", -180],
    ["2031-04-06T03:00Z", -240],
    ["2031-09-07T04:00Z", -180],
  ],
  "Australia/Lord_Howe": [
    ["2030-12-01T00:00Z", 660],
    ["2031-04-05T15:00Z", 630],
    ["2031-10-04T15:30Z", 660],
  ],
}

const secondsOf = (time: string): number => Date.parse(time) / 1_000

interface Span {
  readonly start: number
  readonly end: number
  readonly ahead: number
}

const SPANS = new Map(
  Object.entries(CLOCKS).map(([tz, clock]) => [
    tz,
    clock.map(([from, minutes], at): Span => {
      const [next] = clock[at + 1] ?? []
      return { start: secondsOf(from), end: next ? secondsOf(next) : Infinity, ahead: minutes * 60 }
    }),
  ]),
)

const spansOf = (tz: string): ReadonlyArray<Span> => SPANS.get(tz) ?? []

/** A text such as 2031-02-01T09:00, as if it were of UTC. */
export const wallOf = (text: string): number => secondsOf(`${text}Z`)

/** The time that a clock shows. */
export const wallAt = (tz: string, at: number): number =>
  at + (spansOf(tz).find(({ end }) => at < end)?.ahead ?? 0)

/** When a clock shows a time: for the first time, or after the gap in which it never does. */
export const firstAt = (tz: string, wall: number): number => {
  const span = spansOf(tz).find(({ ahead, end }) => wall - ahead < end)
  return span === undefined ? Number.NaN : Math.max(span.start, wall - span.ahead)
}
