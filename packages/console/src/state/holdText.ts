import { momentText } from "../format/times.ts"

export const untilText = (until: string | undefined, now: number): string =>
  until === undefined ? "" : ` until ${momentText(Date.parse(until), now)}`

export const holdText = (hold: string): string => {
  if (hold === "ack") return "acknowledged"
  if (hold === "after") return "waiting for its route's delay"
  if (hold === "quiet") return "quiet hours"
  if (hold.startsWith("silence:")) return "silenced"
  if (hold === "parent_grace") return "a parent may fail too"
  if (hold.startsWith("parent:")) return `explained by ${hold.slice("parent:".length)}`
  return hold.startsWith("window:") ? `window ${hold.slice("window:".length)}` : hold
}
