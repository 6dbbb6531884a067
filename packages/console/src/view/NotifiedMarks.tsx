import { computed } from "@preact/signals"
import type { HeldIncident, PolicyInForce, Silence } from "@tocsin/client"
import { now } from "../state/clock.ts"
import { untilText } from "../state/holdText.ts"
import { type Reach, reachesOf } from "../state/health.ts"
import { markOf } from "../state/notifiedMark.ts"
import { linkTo } from "../state/Route.ts"
import { call, mayAdminister } from "../state/session.ts"
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

/** Whom receivers reach. Read slowly: the whole policy is, and they seldom break. */
const { all: reaches, ...reading } = keptMap<Reach>(
  "reaches",
  ["policy"],
  async () => reachesOf(await call<PolicyInForce>("GET", "ops/v1/policy")),
  true,
)

export const { useCurrent: useReaches } = reading

export const faults = computed(
  () => new Map(Array.from(reaches.value).flatMap(([name, { fault }]) => (fault ? [[name, fault]] : []))),
)

export const isLog = (receiver: string): boolean => reaches.value.get(receiver)?.isLog === true

/** The name of a receiver, which says so if no message leaves the server. */
export const withReach = <Item extends { readonly receiver: string }>(item: Item): Item =>
  isLog(item.receiver) ? { ...item, receiver: `${item.receiver} (log only)` } : item

/** Says that nobody would be notified, though each row has its receiver. */
export const ReachesNobody = () =>
  reaches.value.size > 0 && Array.from(reaches.value.keys()).every(isLog) ? (
    <p class="lead">
      Alerts reach nobody: they only go to the server's log.{" "}
      {mayAdminister.value && <a href={linkTo("start")}>Choose where alerts go</a>}
    </p>
  ) : null

export const NotifiedMark = ({ incident }: { readonly incident: HeldIncident }) => {
  const receivers = incident.receivers?.map(withReach)
  const shown = markOf({ ...incident, ...(receivers && { receivers }) }, now.peek(), faults.value)
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
