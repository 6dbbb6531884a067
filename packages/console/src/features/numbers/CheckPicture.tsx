import type { CheckAvailability, ExpectedCheckState, HeldIncident } from "@tocsin/client"
import {
  availabilityOf,
  byWeight,
  hasOnlyWarned,
  stretchesOf,
  timeInStates,
} from "../../format/historyStrip.ts"
import { exactText, spanText } from "../../format/times.ts"
import { now } from "../../state/clock.ts"
import { route } from "../../state/location.ts"
import type { Answered } from "../../state/Pages.ts"
import { call } from "../../state/session.ts"
import { Axis } from "../../view/Axis.tsx"
import { chosen, Tabs } from "../../view/navigation.tsx"
import { ReadingNote } from "../../view/states.tsx"
import { useRead, useResource } from "../../view/usePages.ts"
import { CheckNumbers } from "./CheckNumbers.tsx"

const HOUR = 3_600_000
/** Hours, how to say them, and the steps of the axis. */
const SPANS = [
  ["1", "1 hour", 6],
  ["6", "6 hours", 6],
  ["24", "24 hours", 6],
  ["168", "7 days", 7],
  ["720", "30 days", 6],
  ["2232", "93 days", 6],
] as const

const USUAL = "24"

/** The pictures of less than this show a part of it, without another read. */
const MOST_USUAL = 720 * HOUR

/** The usual span, or a shorter one that has all of a young check. */
const usualOf = ({ phases = [], to }: CheckAvailability): string => {
  const begin = phases.find(({ state }) => state !== "no_data")?.from ?? to
  const age = Date.parse(to) - Date.parse(begin)
  return SPANS.find(([hours]) => hours === USUAL || (age > 0 && age <= Number(hours) * HOUR))?.[0] ?? USUAL
}

/** The width of the picture, and the least one of a stretch. */
const [WIDTH, LEAST] = [1_000, 4]
const STATES = ["ok", "warning", "unknown", "critical", "late", "planned", "no_data"] as const
const wordOf = (state: string): string => state.replaceAll("_", " ")

interface PictureProps {
  readonly end: number
  readonly phases: NonNullable<CheckAvailability["phases"]>
  readonly span: (typeof SPANS)[number]
}

const Picture = ({ end, phases, span: [hours, title, steps] }: PictureProps) => {
  const span = { start: end - Number(hours) * HOUR, end }
  const stretches = stretchesOf(phases, span)
  const times = timeInStates(stretches, span)
  const percent = availabilityOf(times)
  const unknown = (times.get("no_data") ?? 0) + (times.get("planned") ?? 0)
  const shown = STATES.filter((state) => times.has(state))
  const legend = shown.map((state) => `${wordOf(state)} ${spanText(times.get(state) ?? 0)}`)
  return (
    <figure class="picture">
      <p class="percent">
        <b>{percent === undefined ? (hasOnlyWarned(times) ? "warned" : "no data") : `${percent} %`}</b>{" "}
        {percent !== undefined && (
          <span>
            ok{times.has("no_data") && `, over ${spanText(span.end - span.start - unknown)} with data`}
          </span>
        )}
      </p>
      <svg
        viewBox={`0 0 ${WIDTH} 40`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`States over ${title}: ${legend.join(", ")}`}
      >
        {/* Short stretches that are not ok are drawn over the others. */}
        {stretches.toSorted(byWeight).map(({ from, to, state, since }) => (
          <rect
            key={since}
            class={`is-${state}`}
            x={Math.min(from * WIDTH, WIDTH - LEAST)}
            width={Math.max(LEAST, (to - from) * WIDTH)}
            y={state === "ok" || state === "no_data" ? 14 : 0}
            height={state === "ok" || state === "no_data" ? 26 : 40}
          >
            <title>{`${wordOf(state)} since ${exactText(new Date(since).toISOString())}`}</title>
          </rect>
        ))}
      </svg>
      <Axis span={span} steps={steps} />
      <figcaption>
        {shown.map((state, index) => (
          <span key={state} class={`key is-${state}`}>
            {legend[index]}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}

/** So many incidents are marked: the newest ones. */
const MOST_MARKED = 100

interface CheckPictureProps extends Pick<ExpectedCheckState, "agent_id" | "check_id"> {
  /** The colour of the times in which it was late. */
  readonly late_severity: string | null | undefined
}

export const CheckPicture = ({ agent_id, check_id, late_severity }: CheckPictureProps) => {
  const wanted = route.value.parameters["hours"]
  const longest = Math.max(MOST_USUAL, Number(chosen(SPANS, wanted)[0]) * HOUR)
  const reading = useResource(`availability ${agent_id}/${check_id} ${longest}`, ["checks"], async () => {
    const from = new Date(now.peek() - longest).toISOString()
    const query = { match: `agent_id = ${agent_id},check_id = ${check_id}`, from, phases: true }
    const { items } = await call<Answered<CheckAvailability>>("GET", "ops/v1/availability", { query })
    return items[0]
  })
  const past = { agent_id, check_id, sort: "opened_at", limit: MOST_MARKED }
  const incidents = useRead<Answered<HeldIncident>>("ops/v1/incidents", past).value?.items ?? []
  const { failure, value } = reading
  const span = chosen(SPANS, wanted ?? (value && usualOf(value)) ?? USUAL)
  const length = Number(span[0]) * HOUR
  return (
    <section aria-label="Over time" class={`late-${late_severity}`}>
      <Tabs label="How far back" parameter="hours" current={span[0]} tabs={SPANS} />
      <ReadingNote reading={reading} />
      {value?.phases !== undefined && (
        <Picture end={Date.parse(value.to)} phases={value.phases} span={span} />
      )}
      {(wanted ?? value ?? failure) !== undefined && (
        <CheckNumbers {...{ agent_id, check_id, length, incidents }} steps={span[2]} />
      )}
    </section>
  )
}
