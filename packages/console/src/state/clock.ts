import { signal } from "@preact/signals"

/** The computer's time. `performance.now()` stands still while it sleeps. */
// oxlint-disable-next-line eslint/no-restricted-properties -- the one place of the console that reads the wall clock
const read = (): number => Date.now()

/** The time that relative times are relative to; it moves each second while the page is seen. */
export const now = signal(read())

setInterval(() => {
  if (!document.hidden) now.value = read()
}, 1_000)
