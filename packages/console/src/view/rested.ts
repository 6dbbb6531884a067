import { type ReadonlySignal, signal, useSignal, useSignalEffect } from "@preact/signals"

/** Rows that a reader scrolls past ask for nothing. */
const REST_MILLIS = 400

/** Outside of lists. */
const ALWAYS = signal(true)

/** Whether a row has been in sight for a moment. */
export const useRested = (isInSight: ReadonlySignal<boolean> = ALWAYS): boolean => {
  const isRested = useSignal(false)
  useSignalEffect(() => {
    if (!isInSight.value) return void (isRested.value = false)
    const timer = setTimeout(() => (isRested.value = true), REST_MILLIS)
    return () => clearTimeout(timer)
  })
  return isRested.value
}
