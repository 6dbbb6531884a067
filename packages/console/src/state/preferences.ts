import { effect, signal } from "@preact/signals"
import { inZone } from "../format/times.ts"

/** How this browser shows the console, for all who use it. */
interface Preferences {
  /** Empty: as the computer. */
  readonly theme: "" | "light" | "dark"
  /** An IANA name; empty: that of the computer. */
  readonly zone: string
  readonly notifies: boolean
  readonly sounds: boolean
}

const KEY = "tocsin.preferences"
const DEFAULTS: Preferences = { theme: "", zone: "", notifies: false, sounds: false }

// A browser may refuse storage, and anyone can write anything into it.
const stored = (): Preferences => {
  try {
    const value: Partial<Preferences> = JSON.parse(localStorage.getItem(KEY) ?? "{}")
    inZone(value.zone ?? "")
    return { ...DEFAULTS, ...value }
  } catch {
    return DEFAULTS
  }
}

export const preferences = signal<Preferences>(stored())

/** Changes some preferences, in this browser. */
export const prefer = (changes: Partial<Preferences>): void => {
  preferences.value = { ...preferences.peek(), ...changes }
  try {
    localStorage.setItem(KEY, JSON.stringify(preferences.peek()))
  } catch {
    // They last as long as the page.
  }
}

effect(() => {
  const { theme } = preferences.value
  if (theme === "") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
})
