import { useSignal } from "@preact/signals"
import type { IncidentDetail } from "@tocsin/client"
import { useEffect } from "preact/hooks"
import { segment } from "../api/request.ts"
import { whenFree } from "../state/queue.ts"
import { call } from "../state/session.ts"

/** The details of a row's incident once they are read; again when `version` is another one. */
export const useDetail = (id: string, version = "", isWanted = true): IncidentDetail | undefined => {
  const found = useSignal<{ readonly id: string; readonly detail: IncidentDetail } | undefined>(undefined)
  useEffect(() => {
    if (!isWanted) return undefined
    const abort = new AbortController()
    whenFree(async () => {
      const path = `ops/v1/incidents/${segment(id)}`
      const detail = await call<IncidentDetail>("GET", path, { signal: abort.signal }).catch(() => undefined)
      if (detail !== undefined) found.value = { id, detail }
    }, abort.signal)
    return () => abort.abort()
  }, [id, version, isWanted])
  return isWanted && found.value?.id === id ? found.value.detail : undefined
}
