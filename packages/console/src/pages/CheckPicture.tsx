import type { CheckAvailability, ExpectedCheckState } from "@tocsin/client"
import { availabilityOf, stretchesOf, ticksOf, timeInStates } from "../format/historyStrip.ts"
import { clockText, dayText, exactText, spanText } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { route } from "../state/location.ts"
import type { Answered } from "../state/Pages.ts"
import { call } from "../state/session.ts"
import { chosen, Tabs } from "../view/navigation.tsx"
import { ReadingNote } from "../view/states.tsx"
import { useResource } from "../view/usePages.ts"

const DAY = 86_400_000
/** Days, how to say them, and the steps of the axis. */
const SPANS = [
  ["1", "24 hours", 6],
  ["7", "7 days", 7],
  ["30", "30 days", 6],
] as const

const WIDTH = 1_000
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
        {stretches.map(({ from, to, state, since }) => (
          <rect
            key={since}
            class={`is-${state}`}
            x={from * WIDTH}
            width={Math.max(1.5, (to - from) * WIDTH)}
            y={state === "ok" || state === "no_data" ? 14 : 0}
            height={state === "ok" || state === "no_data" ? 26 : 40}
          >
            <title>{`${wordOf(state)} since ${exactText(new Date(since).toISOString())}`}</title>
          </rect>
        ))}
      </svg>
      <ol class="axis" aria-hidden="true">
        {ticksOf(span, steps).map((at, index) => (
          <li key={at}>{index === steps ? "now" : days === "1" ? clockText(at) : dayText(at)}</li>
        ))}
      </ol>
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

export const CheckPicture = ({ agent_id, check_id }: Pick<ExpectedCheckState, "agent_id" | "check_id">) => {
  const span = chosen(SPANS, route.value.parameters["days"])
  const reading = useResource(`availability ${agent_id}/${check_id}`, ["checks"], async () => {
    const from = new Date(now.peek() - 30 * DAY).toISOString()
    const query = { match: `agent_id = ${agent_id},check_id = ${check_id}`, from, phases: true }
    const { items } = await call<Answered<CheckAvailability>>("GET", "ops/v1/availability", { query })
    return items[0]
  })
  const { value } = reading
  return (
    <section aria-label="Availability">
      <Tabs label="How far back" parameter="days" current={span[0]} tabs={SPANS} />
      <ReadingNote reading={reading} />
      {value?.phases !== undefined && (
        <Picture end={Date.parse(value.to)} phases={value.phases} span={span} />
      )}
    </section>
  )
}
