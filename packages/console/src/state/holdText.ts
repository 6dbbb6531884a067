import { momentText } from "../format/times.ts"

export const untilText = (until: string | undefined, now: number): string =>
  until === undefined ? "" : ` until ${momentText(Date.parse(until), now)}`

const HOLDS: Readonly<Record<string, string>> = {
  ack: "acknowledged",
  after: "waiting for its route's delay",
  quiet: "quiet hours",
  parent_grace: "a parent may fail too",
  not_owed: "nothing to send now",
  notifications_off: "its checks notify nobody",
}

export const holdText = (hold: string): string => {
  if (hold.startsWith("silence:")) return "silenced"
  if (hold.startsWith("parent:")) return `explained by ${hold.slice("parent:".length)}`
  return hold.startsWith("window:") ? `window ${hold.slice("window:".length)}` : (HOLDS[hold] ?? hold)
}
