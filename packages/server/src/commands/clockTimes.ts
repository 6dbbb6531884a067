import * as Instant from "@tocsin/contract/formats/Instant"
import { momentAt, timeZoneOf } from "@tocsin/contract/formats/zoneClocks"
import { Effect } from "effect"
import { usageFailure } from "../CommandFailure.ts"

const CLOCK = /^(tomorrow )?(\d{1,2}):(\d{2})$/u
const WALL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/u
const DAY = 86_400_000

/** Which times {@link readTime} takes. */
export const TIMES = '18:00, 2027-01-31T08:30, "tomorrow 8:00" or 2027-01-31T08:30:00Z'

/** The moment at which a clock of a zone shows a time for the first time; one that it leaves out is the end of the gap. */
const shownAt = (tz: string, wall: number): Instant.Instant => {
  const zone = timeZoneOf(tz)
  return Instant.fromMillis(zone === undefined ? wall : momentAt(zone, wall))
}

/** Reads a time as a person writes it, by the clock of a zone: `18:00` is the next one after a moment. */
const timeOf = (
  given: string,
  { after, now, tz }: { readonly after: Instant.Instant; readonly now: Instant.Instant; readonly tz: string },
): Instant.Instant | undefined => {
  const dayOf = (at: Instant.Instant) => {
    const millis = Instant.toMillis(at)
    const wall = millis + (timeZoneOf(tz)?.offsetAt(millis) ?? 0)
    return wall - (((wall % DAY) + DAY) % DAY)
  }
  if (WALL.test(given)) {
    const wall = Instant.parse(`${given}:00Z`)
    return wall && shownAt(tz, Instant.toMillis(wall))
  }
  const [clock, tomorrow, hours = "", minutes = ""] = CLOCK.exec(given) ?? []
  if (clock === undefined) return Instant.parse(given)
  const time = (Number(hours) * 60 + Number(minutes)) * 60_000
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined
  if (tomorrow !== undefined) return shownAt(tz, dayOf(now) + DAY + time)
  return [0, DAY, 2 * DAY].map((later) => shownAt(tz, dayOf(after) + later + time)).find((at) => at > after)
}

/** The same as the API has it. Anything else is a mistake in the arguments; `more` names other forms that are taken. */
export const readTime = Effect.fnUntraced(function* (
  name: string,
  given: string,
  { after, more = "", tz }: { readonly after?: Instant.Instant; readonly more?: string; readonly tz: string },
) {
  const now = yield* Instant.now
  const at = timeOf(given, { after: after ?? now, now, tz })
  return at ?? (yield* usageFailure(`--${name} must be a time such as ${TIMES}${more}`))
})
