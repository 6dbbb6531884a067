import type { HeldOutboxItem } from "@tocsin/client"
import { useMemo } from "preact/hooks"
import { type Notified, notifiedOf } from "../state/notified.ts"
import { call } from "../state/session.ts"
import { useResource } from "../state/useResource.ts"
import { useDetail } from "./useDetail.ts"

/** The latest notifications; `isWhole` if there are no others. */
export interface Latest {
  readonly items: ReadonlyArray<HeldOutboxItem>
  readonly isWhole: boolean
}

/** The latest notifications, which say of most incidents in sight who was notified. */
export const useLatest = (): Latest | undefined => {
  const { value } = useResource("latest notifications", ["outbox", "incidents"], (signal) =>
    call<{ items: ReadonlyArray<HeldOutboxItem>; next_cursor?: string | null }>("GET", "ops/v1/outbox", {
      query: { limit: 100 },
      signal,
    }),
  )
  return useMemo(
    () => value && { items: value.items, isWhole: (value.next_cursor ?? null) === null },
    [value],
  )
}

const SAYS: Readonly<Record<Notified["outcome"], readonly [sign: string, word: string]>> = {
  sent: ["✓", "notified"],
  failed: ["✕", "failed to notify"],
  waiting: ["…", "not notified yet"],
}

/** Who was notified of an incident. Where the latest notifications are not all, its own are read. */
export const NotifiedMarks = ({ id, latest }: { readonly id: string; readonly latest: Latest }) => {
  const mine = latest.items.filter(({ incident_id }) => incident_id === id)
  const version = mine.map(({ id: item, state, updated_at }) => `${item} ${state} ${updated_at ?? ""}`).join()
  const deliveries = useDetail(id, version, !latest.isWhole)?.deliveries ?? mine
  return (
    <>
      {notifiedOf(deliveries).map(({ receiver, outcome }) => {
        const [sign, word] = SAYS[outcome]
        return (
          <em key={receiver} class={`told is-${outcome}`} title={`${word}: ${receiver}`}>
            <span aria-hidden="true">{sign} </span>
            <span class="unseen">{word}: </span>
            {receiver}
          </em>
        )
      })}
    </>
  )
}
