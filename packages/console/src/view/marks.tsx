import { computed } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { exactText, relativeText } from "../format/times.ts"
import { BELL } from "../state/alerting.ts"
import { now } from "../state/clock.ts"

/**
 * A time relative to now; the exact one shows on hover, and on focus of it or of its row. It is drawn
 * again only when its text changes, not at each tick of the clock.
 */
export const Time = ({ at, isAlone = false }: { readonly at: string; readonly isAlone?: boolean }) => {
  const { exact, relative, label } = useMemo(() => {
    const text = exactText(at)
    const span = computed(() => relativeText(at, now.value))
    return { exact: text, relative: span, label: computed(() => `${span.value}, ${text}`) }
  }, [at])
  return (
    <time dateTime={at} data-exact={exact} aria-label={label} tabIndex={isAlone ? 0 : undefined}>
      {relative}
    </time>
  )
}

const SHAPES: Readonly<Record<string, string>> = {
  critical: "M2 2h12v12H2z",
  warning: "M8 1.5 15.3 14.5H.7z",
  unknown: "M8 .8 15.2 8 8 15.2.8 8z",
  waiting: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z",
  ok: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z",
}

/** States of other subjects that look like one of a check. */
const MEANS: Readonly<Record<string, string>> = {
  dead: "critical",
  failed: "critical",
  stale: "warning",
  retry: "warning",
  active: "waiting",
  pending: "waiting",
  sending: "waiting",
  scheduled: "waiting",
}

const Shape = ({ state }: { readonly state: string }) => (
  <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
    <path d={SHAPES[MEANS[state] ?? state] ?? SHAPES["ok"] ?? ""} />
  </svg>
)

/** The bell of Tocsin. */
export const Bell = ({ size }: { readonly size: number }) => (
  <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
    <path d={BELL} />
  </svg>
)

/** The word of a state with its shape and colour, so that no one of them is needed alone. */
export const Mark = ({ state, word = state }: { readonly state: string; readonly word?: string }) => (
  <span class={`mark is-${state}`}>
    <Shape state={state} />
    {word}
  </span>
)
