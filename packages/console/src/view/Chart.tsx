import { type Signal, signal, useSignal } from "@preact/signals"
import type { HeldIncident } from "@tocsin/client"
import type { ComponentChildren, TargetedPointerEvent } from "preact"
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { numberText } from "@tocsin/contract/formats/numberText"
import { drawPlot, type Plot } from "../features/numbers/plot.ts"
import {
  boundsIn,
  type Chart as Drawn,
  lanesOf,
  nearest,
  rangeOf,
  rangesOf,
  readingAt,
  type Stated,
} from "../features/numbers/series.ts"
import { ticksOf } from "../format/historyStrip.ts"
import { momentText } from "../format/times.ts"
import { matching } from "../state/browser.ts"
import { now } from "../state/clock.ts"
import { preferences } from "../state/preferences.ts"
import type { AxisProps } from "./Axis.tsx"

const isDark = signal(false)
isDark.value = matching("(prefers-color-scheme: dark)", (isMatch) => (isDark.value = isMatch))()

const coloured = (colour: string) => ({ "--state": `var(--${colour})` })

const DAY = 86_400_000

interface ChartProps extends AxisProps {
  /** The times below it: they are drawn on other pictures too. */
  readonly axis: ComponentChildren
  readonly chart: Drawn
  readonly stated: ReadonlyArray<Stated>
  readonly incidents: ReadonlyArray<Pick<HeldIncident, "opened_at" | "resolved_at" | "severity">>
  /** The time that the reader points at, on all charts of a check. */
  readonly pointed: Signal<number | undefined>
}

/** More of one level would hide the values. */
const MOST_BOUNDS = 3

const LEVELS = [
  ["warn", "is-warning"],
  ["crit", "is-critical"],
] as const

/** The values at which the lines of a chart become warning or critical. */
const boundsOf = (props: ChartProps) => {
  const { chart, stated } = props
  const { lines, unit } = chart
  const drawn = stated.filter((each) => each.unit === unit && lines.some(({ name }) => name === each.name))
  return LEVELS.flatMap(([level, kind]) => {
    const all = drawn.flatMap((each) =>
      boundsIn(rangesOf(each)[level]).map((bound) => ({ ...bound, name: each.name })),
    )
    const each = Array.from(new Map(all.map((bound) => [`${bound.side} ${bound.value}`, bound])).values())
    return each.length > MOST_BOUNDS
      ? []
      : each.map(({ side, value }) => {
          const names = all.flatMap((one) => (one.side === side && one.value === value ? [one.name] : []))
          // A bound of all series needs no name.
          const of = names.length === drawn.length ? "" : ` ${names.join(", ")}`
          return { value, level: `${level}${of} ${side}`, kind }
        })
  })
}

/** Draws into an element whenever what is drawn, its room or the theme changes. */
const usePlot = (plot: Plot) => {
  const place = useRef<HTMLDivElement>(null)
  const room = useSignal(0)
  useEffect(() => {
    const watching = new ResizeObserver(([entry]) => (room.value = entry?.contentRect.width ?? 0))
    if (place.current !== null) watching.observe(place.current)
    return () => watching.disconnect()
  }, [])
  useLayoutEffect(
    () => (place.current === null ? undefined : drawPlot(place.current, plot)),
    [room.value, isDark.value, preferences.value.theme, plot],
  )
  return place
}

const Table = ({ chart: { lines, measured, times, unit } }: Pick<ChartProps, "chart">) => {
  const isOpen = useSignal(false)
  return (
    <details onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>Table</summary>
      {isOpen.value && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Numbers as a table">
          <table>
            <tr>
              {["Time", ...lines.map(({ name }) => name)].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
            {measured.toReversed().map((place) => (
              <tr key={place}>
                <th scope="row">{momentText(times[place] ?? 0, now.peek())}</th>
                {lines.map((line) => {
                  const { name, value, range } = readingAt(line, place, unit)
                  return (
                    <td key={name}>
                      {value} <small>{range}</small>
                    </td>
                  )
                })}
              </tr>
            ))}
          </table>
        </div>
      )}
    </details>
  )
}

/** How far keys move the time that is pointed at. */
const MOVES: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -12,
  PageUp: 12,
  Home: -Infinity,
  End: Infinity,
}

interface MarksProps extends Pick<ChartProps, "chart" | "incidents"> {
  readonly plot: Plot
  readonly bounds: ReturnType<typeof boundsOf>
  /** The place of the time that is pointed at. */
  readonly place: number | undefined
}

/** Over the lines of a chart: incidents, bounds, and the values at the time that is pointed at. */
const Marks = ({ chart, incidents, plot, bounds, place }: MarksProps) => {
  const { start, end } = plot.span
  const [low, high] = plot.range
  const across = (at: number) => ((at - start) / (end - start)) * 100
  const top = (value: number) => `${((high - value) / (high - low)) * 100}%`
  const inTurn = bounds
    .filter(({ value }) => value >= low && value <= high)
    .toSorted((a, b) => b.value - a.value)
  const lanes = lanesOf(
    inTurn.map(({ value }) => value),
    plot.range,
  )
  const left = `${across(chart.times[place ?? 0] ?? start)}%`
  return (
    <>
      {incidents.map(({ opened_at, resolved_at, severity }) => {
        const [from, to] = [opened_at, resolved_at].map((at) =>
          across(typeof at === "string" ? Date.parse(at) : end),
        )
        const sides = { left: `${from}%`, right: `max(0%, ${100 - (to ?? 0)}%)` }
        return <i key={opened_at} class={`open is-${severity}`} style={sides} />
      })}
      {inTurn.map(({ value, level, kind }, index) => {
        const { isAbove = false, lane = 0 } = lanes[index] ?? {}
        return (
          <i
            key={`${level} ${value}`}
            class={`bound ${kind}${isAbove ? " above" : ""}`}
            style={{ top: top(value), "--lane": lane }}
          >
            {level} {numberText(value, chart.unit)}
          </i>
        )
      })}
      {place !== undefined && <i class="pointer" style={{ left }} />}
      {place !== undefined &&
        chart.lines.map(
          ({ name, colour, mean }) =>
            typeof mean[place] === "number" && (
              <i key={name} class="dot" style={{ ...coloured(colour), left, top: top(mean[place]) }} />
            ),
        )}
    </>
  )
}

/** The last values of all series, unless they are later than the chart. */
const latestOf = ({ chart, span, stated }: ChartProps) => {
  const { lines, unit } = chart
  const series = lines.flatMap(({ name, colour }) =>
    stated.flatMap((each) =>
      each.name === name && each.unit === unit && each.last !== null && each.last_at !== null
        ? [
            {
              name,
              colour,
              range: "",
              value: numberText(each.last, unit),
              at: Date.parse(each.last_at),
            },
          ]
        : [],
    ),
  )
  const at = Math.max(...series.map((one) => one.at))
  return series.length < lines.length || at > span.end + DAY / 100 ? undefined : { at, values: series }
}

/** Series of one unit over time, with their values at the time that the reader points at. */
export const Chart = (props: ChartProps) => {
  const { axis, chart, pointed, span, stated, steps } = props
  const { lines, measured, times, unit } = chart
  const bounds = useMemo(() => boundsOf(props), [chart, stated])
  const plot = useMemo(() => {
    const range = rangeOf(
      chart,
      bounds.map(({ value }) => value),
    )
    return { ...chart, span, range, ticks: ticksOf(span, steps) }
  }, [bounds])
  const drawn = usePlot(plot)
  const place = nearest(chart, pointed.value ?? span.end)
  const latest = pointed.value === undefined ? latestOf(props) : undefined
  const time = momentText(latest?.at ?? times[place] ?? 0, now.peek())
  const values = latest?.values ?? lines.map((line) => readingAt(line, place, unit))
  const point = ({ currentTarget, clientX }: TargetedPointerEvent<HTMLElement>): void => {
    const { left, width } = currentTarget.getBoundingClientRect()
    const wanted = span.start + ((clientX - left) / width) * (span.end - span.start)
    pointed.value = times[nearest(chart, wanted)]
  }
  const leave = () => void (pointed.value = undefined)
  const move = (event: KeyboardEvent): void => {
    const by = MOVES[event.key]
    if (by === undefined) return
    event.preventDefault()
    const next = Math.min(measured.length - 1, Math.max(0, measured.indexOf(place) + by))
    pointed.value = times[measured[next] ?? 0]
  }
  return (
    <figure class="picture">
      <figcaption class="readings">
        {values.map(({ name, colour, value, range }, index) => (
          <span key={name} class={`key dashes-${lines[index]?.dashes ?? 0}`} style={coloured(colour)}>
            {name} <b>{value}</b> <small>{range}</small>
          </span>
        ))}
        <span class="at">
          {pointed.value === undefined && "latest, "}
          {time}
        </span>
      </figcaption>
      <div class="plot" ref={drawn}>
        <div
          class="over"
          role="slider"
          tabIndex={0}
          aria-label={`${values.map(({ name }) => name).join(", ")} over time`}
          aria-valuemin={0}
          aria-valuemax={measured.length - 1}
          aria-valuenow={measured.indexOf(place)}
          aria-valuetext={`${time}: ${values.map(({ name, value }) => `${name} ${value}`).join(", ")}`}
          onPointerMove={point}
          onPointerDown={point}
          onPointerLeave={({ pointerType }) => pointerType === "mouse" && leave()}
          onKeyDown={move}
          onBlur={leave}
        >
          <Marks {...{ ...props, plot, bounds }} place={pointed.value === undefined ? undefined : place} />
        </div>
      </div>
      {axis}
      <Table chart={chart} />
    </figure>
  )
}
