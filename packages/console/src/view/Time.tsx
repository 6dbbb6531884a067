import { useComputed, useSignal } from "@preact/signals"
import { exactText, relativeText } from "../format/times.ts"
import { now } from "../state/clock.ts"

/**
 * A time relative to now; the exact one shows on hover, and on focus of it or of its row. It is drawn
 * again only when its text changes, not at each tick of the clock.
 */
export const Time = ({ at, isAlone = false }: { readonly at: string; readonly isAlone?: boolean }) => {
  const given = useSignal(at)
  given.value = at
  const exact = useComputed(() => exactText(given.value))
  const relative = useComputed(() => relativeText(given.value, now.value))
  const label = useComputed(() => `${relative.value}, ${exact.value}`)
  return (
    <time dateTime={at} data-exact={exact} aria-label={label} tabIndex={isAlone ? 0 : undefined}>
      {relative}
    </time>
  )
}
