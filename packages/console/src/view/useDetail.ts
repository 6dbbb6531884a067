import { useSignal } from "@preact/signals"
import type { IncidentDetail } from "@tocsin/client"
import { useEffect, useRef } from "preact/hooks"
import { segment } from "../api/request.ts"
import { revisionOf } from "../state/revisions.ts"
import { whenFree } from "../state/queue.ts"
import { call } from "../state/session.ts"

/**
 * The details of a row's incident once they are read; again when `version` is another one, and
 * after a failure at each revision.
 */
export const useDetail = (id: string, version = "", isWanted = true): IncidentDetail | undefined => {
  const found = useSignal<{ readonly id: string; readonly detail: IncidentDetail } | undefined>(undefined)
  const isMissed = useSignal(false)
  const revision = useRef(0)
  // Rows whose details were read are not drawn at each revision.
  if (isMissed.value) revision.current = revisionOf([])
  useEffect(() => {
    if (!isWanted) return undefined
    const abort = new AbortController()
    whenFree(async () => {
      const path = `ops/v1/incidents/${segment(id)}`
      const detail = await call<IncidentDetail>("GET", path, { signal: abort.signal }).catch(() => undefined)
      if (detail !== undefined) found.value = { id, detail }
      isMissed.value = detail === undefined && !abort.signal.aborted
    }, abort.signal)
    return () => abort.abort()
  }, [id, version, isWanted, revision.current])
  return isWanted && found.value?.id === id ? found.value.detail : undefined
}
