import { useSignal } from "@preact/signals"
import type { ExpectedCheckState, HeldIncident, Numbers, SeriesOfCheck } from "@tocsin/client"
import { useRef } from "preact/hooks"
import { messageOf } from "../../api/ApiFailure.ts"
import { segment } from "../../api/request.ts"
import { now } from "../../state/clock.ts"
import { call } from "../../state/session.ts"
import { Axis } from "../../view/Axis.tsx"
import { ReadingNote } from "../../view/states.tsx"
import { useResource } from "../../view/usePages.ts"

interface CheckNumbersProps extends Pick<ExpectedCheckState, "agent_id" | "check_id"> {
  /** The heading of a page about something else, which says nothing where there are no numbers. */
  readonly title?: string
  readonly length: number
  /** When the time ends, unless now. */
  readonly end?: number
  readonly steps: number
  readonly incidents: ReadonlyArray<Pick<HeldIncident, "opened_at" | "resolved_at" | "severity">>
}

/** The page keeps answers by their addresses, so these stay the same for a while. */
const ROUNDED_MILLIS = 300_000

const read = async ({ agent_id, check_id, end = Infinity, length }: CheckNumbersProps) => {
  const span = { start: Math.min(end, now.peek()) - length, end: Math.min(end, now.peek()) }
  const from = new Date(Math.floor(span.start / ROUNDED_MILLIS) * ROUNDED_MILLIS).toISOString()
  const to = span.end === end ? new Date(end).toISOString() : undefined
  const [charts, numbers, { items, not_kept }] = await Promise.all([
    import("./charts.ts"),
    call<Numbers>("GET", "ops/v1/numbers", { query: { agent_id, check_id, from, to } }),
    call<SeriesOfCheck>("GET", `ops/v1/checks/${segment(agent_id)}/${segment(check_id)}/numbers`),
  ])
  const drawn = charts.chartsOf(numbers, span.end)
  const more = not_kept.length
  const kept = more > 0 ? ` ${items.length} of ${items.length + more} numbers are kept.` : ""
  const note = `Each point is a mean of ${numbers.step}.${kept}`
  return { Chart: charts.Chart, drawn, note, stated: items, span }
}

/** The numbers of a check over time: one chart for each unit. */
export const CheckNumbers = (props: CheckNumbersProps) => {
  const { agent_id, check_id, title, length, end, steps, incidents } = props
  const pointed = useSignal<number | undefined>(undefined)
  const key = `numbers ${agent_id}/${check_id} ${length} ${end}`
  const reading = useResource(key, ["checks"], () => read(props), true)
  // Until another time was read, the page shows the one before.
  const shown = useRef(reading.value)
  shown.current = reading.value ?? shown.current
  const { current } = shown
  const { failure } = reading
  // How long a check ran is of interest on its own page only.
  const drawn = (current?.drawn ?? []).filter(({ isDuration }) => title === undefined || !isDuration)
  if (title !== undefined && drawn.length === 0) return null
  if (failure?.code === "not_found") return <p class="lead">Numbers over time: {messageOf(failure)}.</p>
  if (current === undefined) return <ReadingNote reading={reading} />
  const { Chart, note, span, stated } = current
  const axis = <Axis span={span} steps={steps} />
  return (
    <>
      <ReadingNote reading={{ value: current, failure }} />
      {title !== undefined && <h2>{title}</h2>}
      {drawn.length === 0 && <p class="lead">It measured nothing in this time.</p>}
      {drawn.map((chart) => (
        <Chart
          key={`${chart.isDuration} ${chart.unit}`}
          {...{ axis, chart, incidents, pointed, span, stated, steps }}
        />
      ))}
      {drawn.length > 0 && <p class="lead">{note}</p>}
    </>
  )
}
