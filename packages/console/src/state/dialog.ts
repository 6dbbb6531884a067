import { signal } from "@preact/signals"
import type { ComponentChildren } from "preact"

/** The form that is open over the page, one at a time. It ends with its page, but not with the row that opened it. */
export const dialog = signal<ComponentChildren>(undefined)
