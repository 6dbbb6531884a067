import { useSignal } from "@preact/signals"
import type { IncidentDetail } from "@tocsin/client"
import { useEffect, useRef } from "preact/hooks"
import { segment } from "../api/request.ts"
import { revisionOf } from "../state/revisions.ts"
import { call } from "../state/session.ts"

/** So many reads of details at a time leave connections for what the page needs first. */
const AT_A_TIME = 2

interface Waiting {
  readonly run: () => Promise<void>
  readonly signal: AbortSignal
}

/** Nothing is read while rows come into sight this quickly: their reader only scrolls past. */
const QUIET_MILLIS = 150

const waiting: Array<Waiting> = []
let running = 0
let lastAt = 0
let isWatched = false

const next = (): void => {
  while (running < AT_A_TIME) {
    // The newest first: it is what the reader sees now.
    const task = waiting.pop()
    if (task === undefined) return
    if (task.signal.aborted) continue
    running += 1
    void task.run().finally(() => {
      running -= 1
      next()
    })
  }
}

const startWhenQuiet = (): void => {
  const left = lastAt + QUIET_MILLIS - performance.now()
  isWatched = left > 0
  if (isWatched) setTimeout(startWhenQuiet, left)
  else next()
}

/** Carries out reads of details, a few at a time, unless they were aborted while they waited. */
const whenFree = (run: () => Promise<void>, signal: AbortSignal): void => {
  waiting.push({ run, signal })
  lastAt = performance.now()
  if (!isWatched) startWhenQuiet()
}

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
