import { useSignal } from "@preact/signals"
import type { HeldOutboxItem, IncidentDetail } from "@tocsin/client"
import { useEffect, useMemo } from "preact/hooks"
import { segment } from "../api/request.ts"
import { type Notified, notifiedOf } from "../state/notified.ts"
import { whenFree } from "../state/queue.ts"
import { call } from "../state/session.ts"
import { useResource } from "../state/useResource.ts"

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
  const own = useSignal<
    { readonly id: string; readonly deliveries: ReadonlyArray<HeldOutboxItem> } | undefined
  >(undefined)
  useEffect(() => {
    if (latest.isWhole) return undefined
    const abort = new AbortController()
    whenFree(async () => {
      const path = `ops/v1/incidents/${segment(id)}`
      const detail = await call<IncidentDetail>("GET", path, { signal: abort.signal }).catch(() => undefined)
      if (detail !== undefined) own.value = { id, deliveries: detail.deliveries }
    }, abort.signal)
    return () => abort.abort()
  }, [id, version, latest.isWhole])
  const deliveries = !latest.isWhole && own.value?.id === id ? own.value.deliveries : mine
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
