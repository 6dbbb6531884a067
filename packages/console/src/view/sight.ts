import { type ReadonlySignal, type Signal, signal, useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"

/** Rows beyond the ones in sight, so that a quick scroll shows no gap. They come in steps, each of a frame. */
const [AROUND, STEP] = [8, 2]

export type Range = readonly [first: number, last: number]

/** How many rows beyond those in sight are drawn after the next step, of so many before. */
const around = (before: number): number => Math.min(AROUND, Math.max(0, before + STEP))

/** A range that is a step closer to the rows in sight and those around them. Rows in sight do not wait. */
export const closer = ([first, last]: Range, [top, bottom]: Range): Range => [
  top - around(top - first),
  bottom + around(last - bottom),
]

/** The attribute of a row: out of sight it costs neither layout nor paint, and the browser's search still finds it. */
export type Hidden = ReadonlySignal<"until-found" | undefined>

/** The rows in sight. Each row has a separate signal, so a scroll redraws only rows that enter or leave. */
export const useSight = (inSight: number) => {
  const range = useSignal<Range>([0, inSight])
  const all = useMemo(() => new Map<number, Signal<Hidden["value"]>>(), [])
  const hiddenAt = (place: number) => {
    const [first, last] = range.peek()
    return place < first || place > last ? "until-found" : undefined
  }
  const hiddenOf = (place: number): Hidden => {
    const hidden = all.get(place) ?? signal(hiddenAt(place))
    all.set(place, hidden)
    return hidden
  }
  /** Makes a step towards the rows that are in sight now. Another range than before asks for another step. */
  const comeCloser = (...rows: Range): void => {
    const next = closer(range.peek(), rows)
    if (`${next}` === `${range.peek()}`) return
    range.value = next
    for (const [place, hidden] of all) hidden.value = hiddenAt(place)
  }
  return [range, hiddenOf, comeCloser] as const
}
