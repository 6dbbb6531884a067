import { useMemo } from "preact/hooks"
import { countText } from "../format/times.ts"
import { folded, lineDifference } from "../format/lineDifference.ts"

/** More lines of a difference are not shown. */
const MOST_LINES = 2_000

interface DifferenceProps {
  readonly label: string
  readonly before: string
  readonly after: string
}

/** Two texts, line by line: those that changed, with those around them. */
export const Difference = ({ label, before, after }: DifferenceProps) => {
  const lines = useMemo(() => folded(lineDifference(before, after)), [before, after])
  if (!lines.some((line) => typeof line !== "number")) return <p class="lead">The texts are equal.</p>
  return (
    <pre class="difference" role="region" aria-label={label} tabIndex={0}>
      {lines.slice(0, MOST_LINES).map((line, place) => {
        if (typeof line === "number") return <i key={place}>… {countText(line, "equal line")}</i>
        if (line.kind === "added") return <ins key={place}>+ {line.text}</ins>
        if (line.kind === "removed") return <del key={place}>- {line.text}</del>
        return <span key={place}>{`  ${line.text}`}</span>
      })}
      {lines.length > MOST_LINES && <i>… and more</i>}
    </pre>
  )
}
