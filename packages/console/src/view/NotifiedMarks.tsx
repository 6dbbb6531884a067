import { computed, type ReadonlySignal, useSignal } from "@preact/signals"
import type { HeldIncident, HeldOutboxItem, Silence } from "@tocsin/client"
import { useEffect, useMemo } from "preact/hooks"
import { now } from "../state/clock.ts"
import { holdText, notifiedOf, untilText } from "../state/incidentTimeline.ts"
import type { Answered } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { useRead } from "./usePages.ts"

/** The latest notifications, the moment since which there are no others, and that at which they were read. */
export interface Latest {
  readonly items: ReadonlyArray<HeldOutboxItem>
  readonly since: number
  readonly readAt: number
}

/** So many say who was notified of the incidents that a reader looks at. */
const MOST_LATEST = 200

/**
 * The latest notifications, which say of most incidents in sight who was notified. A signal, so that
 * a row is drawn again only when its own change.
 */
export const useLatest = (): ReadonlySignal<Latest | undefined> => {
  const latest = useSignal<Latest | undefined>(undefined)
  const query = { limit: MOST_LATEST }
  const { revision, value } = useRead<Answered<HeldOutboxItem>>("ops/v1/outbox", query, ["outbox"])
  useEffect(() => {
    if (value === undefined) return
    const isWhole = (value.next_cursor ?? null) === null
    const since = isWhole ? 0 : Date.parse(value.items.at(-1)?.updated_at ?? "")
    latest.value = { items: value.items, since, readAt: now.peek() }
  }, [value, revision])
  return latest
}

interface RowMark {
  readonly kind: "taken" | "held" | "failed" | "sent"
  readonly text: string
  readonly title: string
}

/** Longer than its first notification takes to be made. */
const SETTLED_MILLIS = 10_000

const takenMark = ({ acknowledgement, state }: HeldIncident): RowMark | undefined => {
  if (acknowledgement === null || state !== "open") return undefined
  const { by, note, until } = acknowledgement
  const title = `${by} has it${untilText(until, now.peek())}${note === undefined ? "" : `: ${note}`}`
  return { kind: "taken", text: `${by} has it`, title }
}

/** The one mark of a row: its most important fact about who has it or was notified. */
const markOf = (incident: HeldIncident, latest: Latest | undefined): RowMark | undefined => {
  const { held_by, id, opened_at } = incident
  const own = (latest?.items ?? []).filter(
    ({ incident_id, state }) => incident_id === id && state !== "discarded",
  )
  const mine = notifiedOf(own)
  const names = (outcome: string) =>
    mine.flatMap((each) => (each.outcome === outcome ? [each.receiver] : [])).join(", ")
  const taken = takenMark(incident)
  if (taken !== undefined) return taken
  // Where a parent has ended, only the notifications know that they wait for the incident's own recovery.
  const allWait = own.every((item) => item.held_by.length > 0)
  const by = held_by.length === 0 && allWait ? own.flatMap((item) => item.held_by) : held_by
  const holds = Array.from(new Set(by.map(holdText)))
  if (holds.length > 0) {
    const sent = names("sent") === "" ? "" : `; notified before: ${names("sent")}`
    return { kind: "held", text: holds[0] ?? "", title: `Notifications wait: ${holds.join(", ")}${sent}` }
  }
  if (names("failed") !== "")
    return { kind: "failed", text: `not delivered: ${names("failed")}`, title: "Delivery failed for good" }
  if (mine.length === 0) {
    const opened = Date.parse(opened_at)
    const isKnown = latest !== undefined && opened >= latest.since && latest.readAt >= opened + SETTLED_MILLIS
    return isKnown
      ? { kind: "failed", text: "nobody notified", title: "No notification was made" }
      : undefined
  }
  const sent = names("sent")
  return sent === ""
    ? { kind: "held", text: `sending to ${names("waiting")}`, title: "On its way" }
    : { kind: "sent", text: `notified ${sent}`, title: `Notified: ${sent}` }
}

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

interface NotifiedMarkProps {
  readonly incident: HeldIncident
  readonly latest: ReadonlySignal<Latest | undefined>
}

export const NotifiedMark = ({ incident, latest }: NotifiedMarkProps) => {
  const text = () => JSON.stringify(markOf(incident, latest.value) ?? null)
  const mark = useMemo(() => computed(text), [incident, latest]).value
  // Its own text, above.
  const shown = JSON.parse(mark) as RowMark | null
  return (
    <span class="notes">
      {shown !== null && (
        <em class={`is-${shown.kind}`} title={shown.title}>
          {shown.text}
        </em>
      )}
    </span>
  )
}
