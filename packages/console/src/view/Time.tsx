import { exactText, relativeText } from "../format/times.ts"
import { now } from "../state/clock.ts"

/** A time relative to now; the exact one shows on hover, and on focus of it or of its row. */
export const Time = ({ at, isAlone = false }: { readonly at: string; readonly isAlone?: boolean }) => {
  const exact = exactText(at)
  const relative = relativeText(at, now.value)
  return (
    <time
      dateTime={at}
      data-exact={exact}
      aria-label={`${relative}, ${exact}`}
      tabIndex={isAlone ? 0 : undefined}
    >
      {relative}
    </time>
  )
}
