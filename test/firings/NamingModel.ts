import type { Policy, Severity } from "./Story.ts"

/** Severities in order; in the model, each is its position here, and 0 is none. */
const SEVERITIES = [undefined, "warning", "unknown", "critical"] as const
export const rankOf = (severity: Severity | "ok" | undefined): number =>
  severity === "ok" ? 0 : SEVERITIES.indexOf(severity)
export const severityOf = (rank: number): Severity => SEVERITIES[rank] ?? "warning"

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const
export const secondsOf = (text = "0s"): number =>
  Number(text.slice(0, -1)) * UNITS[text.slice(-1) as keyof typeof UNITS]

/** The fields that matchers compare. */
export type Facts = Readonly<Record<string, string>>

/** Whether matchers hold for each of some members; there is at least one. */
export const covers = (matchers: ReadonlyArray<string> = [], members: ReadonlyArray<Facts>): boolean =>
  members.length > 0 && members.every((facts) => matchers.every((matcher) => matches(facts, matcher)))

const matches = (facts: Facts, matcher: string): boolean => {
  const [field = "", op = "", wanted = ""] = matcher.split(" ")
  const value = facts[field] ?? ""
  const glob = `^${wanted.replaceAll("*", ".*")}$`
  return op === "glob" ? new RegExp(glob, "u").test(value) : (op === "=") === (value === wanted)
}

/** The receivers that a loud member names, by each step of all routes that match it. */
export const namesOf = (
  { routes = [] }: Policy,
  receivers: ReadonlyArray<string>,
  member: Facts,
  openingsWithin: (seconds: number) => number,
) => {
  const matching = routes.filter(({ match }) => covers(match, [member]))
  // One that no route matches names every receiver, with delay 0.
  return (matching.length === 0 ? [{}] : matching).flatMap((route: (typeof routes)[number]) => {
    const { after, flapping, remind, steps, to = receivers } = route
    const flaps = flapping && openingsWithin(secondsOf(flapping.within)) >= flapping.openings
    // `flapping` replaces the first step's delay, and a later step's is never less than that.
    const first = secondsOf(flaps === true ? flapping?.after : after)
    return (steps ?? [{ to }]).flatMap((step, at) => {
      const delay = at === 0 ? first : Math.max(first, secondsOf(step.after))
      const more = { isFirst: at === 0, remind: remind === undefined ? Infinity : secondsOf(remind) }
      return step.to.map((receiver) => ({ receiver, delay, ...more }))
    })
  })
}

/** The matchers of the windows in which a moment is; the minutes of every hour begin their periods. */
export const windowsAt = ({ windows = [] }: Policy, at: number) =>
  windows.filter((one) => (at % 3_600) % (Number(/\d+/u.exec(one.cron)?.[0]) * 60) < secondsOf(one.for))

/** Below what a receiver is quiet at a moment. The hours are of UTC. */
export const quietBelow = ({ quiet }: Policy, receiver: string, at: number): number => {
  const { below, hours = "" } = quiet?.[receiver] ?? {}
  const [from = 0, to = 0] = hours.split("-").map((time) => Number(time.replace(":", "")))
  const time = Math.floor((at % 86_400) / 3_600) * 100 + Math.floor((at % 3_600) / 60)
  return (from < to ? from <= time && time < to : from <= time || time < to) ? rankOf(below) : 0
}
