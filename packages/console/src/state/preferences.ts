import { effect, signal } from "@preact/signals"
import { inZone } from "../format/times.ts"
import { attempt, keep, kept } from "./kept.ts"

/** How this browser shows the console, for all who use it. */
interface Preferences {
  /** Empty: follow the system's setting. */
  readonly theme: "" | "light" | "dark"
  /** An IANA name; empty: that of the computer. */
  readonly zone: string
  readonly notifies: boolean
  readonly sounds: boolean
}

const KEY = "tocsin.preferences"
const DEFAULTS: Preferences = { theme: "", zone: "", notifies: false, sounds: false }

const stored = (): Preferences =>
  attempt(() => {
    // Anyone can write anything into it. A wrong zone throws.
    const value = kept("localStorage", KEY) as Partial<Preferences> | null | undefined
    inZone(value?.zone ?? "")
    return { ...DEFAULTS, ...value }
  }) ?? DEFAULTS

export const preferences = signal<Preferences>(stored())

export const prefer = (changes: Partial<Preferences>): void => {
  preferences.value = { ...preferences.peek(), ...changes }
  keep("localStorage", KEY, preferences.peek())
}

effect(() => {
  const { theme } = preferences.value
  if (theme === "") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
})
