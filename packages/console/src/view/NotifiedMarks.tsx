import { type ReadonlySignal, untracked, useComputed, useSignal } from "@preact/signals"
import type { HeldOutboxItem } from "@tocsin/client"
import { useEffect, useMemo } from "preact/hooks"
import { holdText } from "../state/incidentTimeline.ts"
import { type Notified, notifiedOf } from "../state/notified.ts"
import type { Answered } from "../state/Pages.ts"
import { call } from "../state/session.ts"
import { useResource } from "../state/useResource.ts"
import { useDetail } from "./useDetail.ts"

/** The latest notifications; `isWhole` if there are no others. */
export interface Latest {
  readonly items: ReadonlyArray<HeldOutboxItem>
  readonly isWhole: boolean
}

/**
 * The latest notifications, which say of most incidents in sight who was notified. A signal, so that
 * a row is drawn again only when its own change.
 */
export const useLatest = (): ReadonlySignal<Latest | undefined> => {
  const latest = useSignal<Latest | undefined>(undefined)
  const { value } = useResource("latest notifications", ["outbox", "incidents"], (signal) =>
    call<Answered<HeldOutboxItem>>("GET", "ops/v1/outbox", {
      query: { limit: 100 },
      signal,
    }),
  )
  useEffect(() => {
    if (value !== undefined)
      latest.value = { items: value.items, isWhole: (value.next_cursor ?? null) === null }
  }, [value])
  return latest
}

const SAYS: Readonly<Record<Notified["outcome"], readonly [sign: string, word: string]>> = {
  sent: ["✓", "notified"],
  failed: ["✕", "failed to notify"],
  waiting: ["…", "not notified yet"],
}

/**
 * The holds of an incident's firings, and its notified receivers. Where the latest notifications
 * are not all, its own are read.
 */
export const NotifiedMarks = ({
  id,
  heldBy,
  latest,
}: {
  readonly id: string
  /** The holds of its firings. Receivers without a notification then go without saying. */
  readonly heldBy: ReadonlyArray<string>
  readonly latest: ReadonlySignal<Latest | undefined>
}) => {
  const mine = () => latest.value?.items.filter(({ incident_id }) => incident_id === id) ?? []
  const version = useComputed(() =>
    mine()
      .map(({ id: item, state, updated_at }) => `${item} ${state} ${updated_at ?? ""}`)
      .join(),
  ).value
  const isWanted = useComputed(() => latest.value?.isWhole === false).value
  const detail = useDetail(id, version, isWanted)
  const deliveries = useMemo(() => detail?.deliveries ?? untracked(mine), [detail, version])
  const isKnown = detail !== undefined || (latest.value !== undefined && !isWanted)
  const notified = notifiedOf(deliveries)
  const shown = notified.filter(({ outcome }) => outcome !== "waiting" || heldBy.length === 0)
  const holds = new Set(heldBy.filter((hold) => hold !== "ack").map(holdText))
  // A silence of an incident whose receivers were all notified before holds nothing yet.
  const prefix = isKnown && notified.every(({ outcome }) => outcome !== "waiting") ? "" : "held: "
  return (
    <>
      {Array.from(holds, (hold) => (
        <em key={hold} class="held" title={`${prefix}${hold}`}>
          {prefix}
          {hold}
        </em>
      ))}
      {isKnown && notified.length === 0 && <em class="notified is-failed">nobody notified</em>}
      {shown.map(({ receiver, outcome }) => {
        const [sign, word] = SAYS[outcome]
        return (
          <em key={receiver} class={`notified is-${outcome}`} title={`${word}: ${receiver}`}>
            <span aria-hidden="true">{sign} </span>
            <span class="unseen">{word}: </span>
            {receiver}
          </em>
        )
      })}
    </>
  )
}
