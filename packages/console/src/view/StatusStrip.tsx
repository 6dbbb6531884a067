import { signal } from "@preact/signals"
import type { CheckAvailability } from "@tocsin/client"
import { useEffect } from "preact/hooks"
import { availabilityOf, barsOf, stretchesOf, timeInStates } from "../format/historyStrip.ts"
import { spanText } from "../format/times.ts"
import type { CheckName } from "../state/lists.ts"
import type { Answered } from "../state/Pages.ts"
import { call } from "../state/session.ts"
import { useRested } from "./rested.ts"
import type { Hidden } from "./sight.ts"
import { keptMap } from "./usePages.ts"

/** Bars of a strip, each of an hour. */
const BARS = 24
/** The names that one request takes, and how long they may be in an address. */
const [MOST_NAMES, MOST_LETTERS] = [100, 6_000]
/** The rows of a screen come into sight one after the other, and are read together. */
const TOGETHER_MILLIS = 60

/** How many strips of each check are in sight. */
const counts = new Map<string, number>()
const wanted = signal("")

const namesInSight = (): string => {
  let room = MOST_LETTERS
  const fits = (name: string) => (room -= encodeURIComponent(`${name},`).length) > 0
  return Array.from(counts.keys()).slice(0, MOST_NAMES).filter(fits).toSorted().join()
}

let soon: ReturnType<typeof setTimeout> | undefined

const count = (name: string, change: 1 | -1): void => {
  const left = (counts.get(name) ?? 0) + change
  if (left === 0) counts.delete(name)
  else counts.set(name, left)
  clearTimeout(soon)
  soon = setTimeout(() => (wanted.value = namesInSight()), TOGETHER_MILLIS)
}

const { useCurrent, useOf: useStrip } = keptMap<CheckAvailability>(
  "strips",
  ["checks"],
  async (checks) => {
    if (checks === "") return []
    const query = { checks, phases: true }
    const { items } = await call<Answered<CheckAvailability>>("GET", "ops/v1/availability", { query })
    return items.map((each) => [`${each.agent_id}/${each.check_id}`, each] as const)
  },
  true,
)

/** Reads the strips in sight, once for the page that shows some. */
export const StripReader = () => {
  useCurrent(wanted.value)
  return null
}

/** Where bars begin: shapes differ too, so that what is not ok stands out. */
const topOf = (state: string): number => (state === "no_data" ? 12 : state === "ok" ? 4 : 0)

const pathIn = (state: string) => (each: string, bar: number) =>
  each === state ? `M${bar * 4} 16h3V${topOf(state)}h-3z` : ""

/** A span in bars, by the phases of it. */
export const Bars = ({ from, phases = [], to }: Pick<CheckAvailability, "from" | "phases" | "to">) => {
  const span = { start: Date.parse(from), end: Date.parse(to) }
  const stretches = stretchesOf(phases, span)
  const times = timeInStates(stretches, span)
  const percent = availabilityOf(times)
  const said = Array.from(times, ([state, millis]) => `${state.replaceAll("_", " ")} ${spanText(millis)}`)
  const bars = barsOf(stretches, BARS)
  const title = `${percent === undefined ? "" : `${percent} % ok: `}${said.join(", ")}`
  return (
    <svg viewBox="0 0 96 16" preserveAspectRatio="none" role="img" aria-label={`24 hours: ${title}`}>
      <title>{title}</title>
      {Array.from(new Set(bars), (state) => (
        <path key={state} class={`is-${state}`} d={bars.map(pathIn(state)).join("")} />
      ))}
    </svg>
  )
}

interface StripProps extends CheckName {
  /** The colour of the times in which it was late. */
  readonly late_severity?: string | null
  readonly hidden?: Hidden
}

/** The last 24 hours of a check, in bars. The page has a {@link StripReader}. */
export const StatusStrip = ({ agent_id, check_id, hidden, late_severity }: StripProps) => {
  const name = `${agent_id}/${check_id}`
  const isRested = useRested(hidden)
  useEffect(() => {
    if (!isRested) return
    count(name, 1)
    return () => count(name, -1)
  }, [isRested, name])
  const strip = useStrip(name)
  return <span class={`strip late-${late_severity}`}>{strip !== undefined && <Bars {...strip} />}</span>
}
