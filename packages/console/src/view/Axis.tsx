import { ticksOf } from "../format/historyStrip.ts"
import { clockText, dayText } from "../format/times.ts"
import { now } from "../state/clock.ts"

const DAY = 86_400_000

export interface AxisProps {
  readonly span: { readonly start: number; readonly end: number }
  readonly steps: number
}

/** The times below a picture. */
export const Axis = ({ span, steps }: AxisProps) => (
  <ol class="axis" aria-hidden="true">
    {ticksOf(span, steps).map((at, index) => (
      <li key={at}>
        {index === steps && now.peek() - at < DAY / 100
          ? "now"
          : span.end - span.start > DAY
            ? dayText(at)
            : clockText(at)}
      </li>
    ))}
  </ol>
)
