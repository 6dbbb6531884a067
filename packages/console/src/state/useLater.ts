import { useEffect } from "preact/hooks"

/** Does something after a while, unless one of `on` changes before that; never without a while. */
export const useLater = (does: () => void, millis: number | undefined, on: ReadonlyArray<unknown>): void =>
  useEffect(() => {
    if (millis === undefined) return undefined
    const timer = setTimeout(does, millis)
    return () => clearTimeout(timer)
  }, on)
