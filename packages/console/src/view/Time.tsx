import { computed } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { exactText, relativeText } from "../format/times.ts"
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
