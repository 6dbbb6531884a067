import type { HeldIncident, Silence } from "@tocsin/client"
import { now } from "../state/clock.ts"
import { untilText } from "../state/incidentTimeline.ts"
import { markOf } from "../state/notifiedMark.ts"
import { linkTo } from "../state/Route.ts"

interface SilencedByProps {
  readonly silence: Pick<Silence, "comment" | "created_by" | "ends_at">
  /** Whether it covers only some incidents. */
  readonly isPart?: boolean
}

export const SilencedBy = ({ silence, isPart = false }: SilencedByProps) => (
  <>
    <a href={linkTo("silences", [], { tab: "active" })}>{isPart ? "Partly silenced" : "Silenced"}</a> by{" "}
    {silence.created_by}
    {untilText(silence.ends_at, now.peek())}: {silence.comment}
  </>
)

export const NotifiedMark = ({ incident }: { readonly incident: HeldIncident }) => {
  const shown = markOf(incident, now.peek())
  return (
    <span class="notes">
      {shown !== undefined && (
        <em class={`is-${shown.kind}`} title={shown.title}>
          {shown.text}
        </em>
      )}
    </span>
  )
}
