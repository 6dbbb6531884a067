import type { CheckAvailability, ExpectedCheckState, HeldIncident } from "@tocsin/client"
import { availabilityOf, byWeight, stretchesOf, timeInStates } from "../format/historyStrip.ts"
import { exactText, spanText } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { route } from "../state/location.ts"
import type { Answered } from "../state/Pages.ts"
import { call } from "../state/session.ts"
import { Axis } from "../view/Chart.tsx"
import { chosen, Tabs } from "../view/navigation.tsx"
import { ReadingNote } from "../view/states.tsx"
import { useRead, useResource } from "../view/usePages.ts"
import { CheckNumbers } from "./CheckNumbers.tsx"

const DAY = 86_400_000
/** Days, how to say them, and the steps of the axis. */
const SPANS = [
  ["0.25", "6 hours", 6],
  ["1", "24 hours", 6],
  ["7", "7 days", 7],
  ["30", "30 days", 6],
  ["93", "93 days", 6],
] as const

const USUAL = "1"

/** The pictures of less than this show a part of it, without another read. */
const MOST_USUAL = 30 * DAY

/** The width of the picture, and the least one of a stretch. */
const [WIDTH, LEAST] = [1_000, 4]
const STATES = ["ok", "warning", "unknown", "critical", "planned", "no_data"] as const
const wordOf = (state: string): string => state.replaceAll("_", " ")

interface PictureProps {
  readonly end: number
  readonly phases: NonNullable<CheckAvailability["phases"]>
  readonly span: (typeof SPANS)[number]
}

const Picture = ({ end, phases, span: [days, title, steps] }: PictureProps) => {
  const span = { start: end - Number(days) * DAY, end }
  const stretches = stretchesOf(phases, span)
  const times = timeInStates(stretches, span)
  const percent = availabilityOf(times)
  const shown = STATES.filter((state) => times.has(state))
  const legend = shown.map((state) => `${wordOf(state)} ${spanText(times.get(state) ?? 0)}`)
  return (
    <figure class="picture">
      <p class="percent">
        <b>{percent === undefined ? "no data" : `${percent} %`}</b> <span>available</span>
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

export const CheckPicture = ({ agent_id, check_id }: Pick<ExpectedCheckState, "agent_id" | "check_id">) => {
  const span = chosen(SPANS, route.value.parameters["days"] ?? USUAL)
  const length = Number(span[0]) * DAY
  const isLong = length > MOST_USUAL
  const reading = useResource(`availability ${agent_id}/${check_id} ${isLong}`, ["checks"], async () => {
    const from = new Date(now.peek() - Math.max(MOST_USUAL, length)).toISOString()
    const query = { match: `agent_id = ${agent_id},check_id = ${check_id}`, from, phases: true }
    const { items } = await call<Answered<CheckAvailability>>("GET", "ops/v1/availability", { query })
    return items[0]
  })
  const past = { agent_id, check_id, sort: "opened_at", limit: MOST_MARKED }
  const incidents = useRead<Answered<HeldIncident>>("ops/v1/incidents", past).value?.items ?? []
  const { value } = reading
  return (
    <section aria-label="Over time">
      <Tabs label="How far back" parameter="days" current={span[0]} tabs={SPANS} />
      <ReadingNote reading={reading} />
      {value?.phases !== undefined && (
        <Picture end={Date.parse(value.to)} phases={value.phases} span={span} />
      )}
      <CheckNumbers {...{ agent_id, check_id, length, incidents }} steps={span[2]} />
    </section>
  )
}
