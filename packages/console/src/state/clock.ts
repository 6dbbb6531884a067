import { signal } from "@preact/signals"

/** The browser's time. */
const read = (): number => Math.round(performance.timeOrigin + performance.now())

/** The time that relative times are relative to; it moves each second while the page is seen. */
export const now = signal(read())

setInterval(() => {
  if (!document.hidden) now.value = read()
}, 1_000)
