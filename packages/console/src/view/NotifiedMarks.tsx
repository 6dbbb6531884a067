import type { HeldIncident, PolicyInForce, Silence } from "@tocsin/client"
import { now } from "../state/clock.ts"
import { untilText } from "../state/holdText.ts"
import { faultsOf } from "../state/health.ts"
import { markOf } from "../state/notifiedMark.ts"
import { linkTo } from "../state/Route.ts"
import { call } from "../state/session.ts"
import { keptMap } from "./usePages.ts"

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

/** Receivers that cannot be reached. Read slowly: the whole policy is, and they seldom break. */
export const { all: faults, useCurrent: useFaults } = keptMap<string>(
  "out of reach",
  ["policy"],
  async () => faultsOf(await call<PolicyInForce>("GET", "ops/v1/policy")),
  true,
)

export const NotifiedMark = ({ incident }: { readonly incident: HeldIncident }) => {
  const shown = markOf(incident, now.peek(), faults.value)
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
