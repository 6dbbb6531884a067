import { signal, useSignal, useSignalEffect } from "@preact/signals"
import type { Hidden } from "./sight.ts"

/** Rows that a reader scrolls past ask for nothing. */
const REST_MILLIS = 400

/** Outside of lists. */
const NEVER = signal(undefined)

/** Whether a row has been in sight for a moment. */
export const useRested = (hidden: Hidden = NEVER): boolean => {
  const isRested = useSignal(false)
  useSignalEffect(() => {
    if (hidden.value !== undefined) return void (isRested.value = false)
    const timer = setTimeout(() => (isRested.value = true), REST_MILLIS)
    return () => clearTimeout(timer)
  })
  return isRested.value
}
