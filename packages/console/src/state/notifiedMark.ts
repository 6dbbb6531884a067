import type { HeldIncident } from "@tocsin/client"
import { endText } from "./incidentActions.ts"
import { NO_FAULTS, unreachedText } from "./health.ts"
import { holdText, untilText } from "./holdText.ts"

type Marked = Pick<HeldIncident, "acknowledgement" | "held_by" | "receivers" | "resolution" | "state">

interface RowMark {
  readonly kind: "taken" | "held" | "failed" | "sent"
  readonly text: string
  readonly title: string
}

const takenMark = ({ acknowledgement, state }: Marked, now: number): RowMark | undefined => {
  if (acknowledgement === null || state !== "open") return undefined
  const { by, note, until } = acknowledgement
  const title = `${by} has it${untilText(until, now)}${note === undefined ? "" : `: ${note}`}`
  return { kind: "taken", text: `${by} has it`, title }
}

/** Names after their number, so that a row without room for the last one does not hide that there are more. */
const namesText = (names: ReadonlyArray<string>): string =>
  names.length > 1 ? `${names.length}: ${names.join(", ")}` : names.join("")

/** The one mark of a row: that nobody heard of it, how it ended, or else who has it or was notified. */
export const markOf = (incident: Marked, now: number, faults = NO_FAULTS): RowMark | undefined => {
  const text = endText(incident)
  const mark = sentMark(incident, now, faults)
  return text === undefined || mark?.kind === "failed" ? mark : { kind: "taken", text, title: text }
}

/** Who has it, or who was notified. */
const sentMark = (incident: Marked, now: number, faults: typeof NO_FAULTS): RowMark | undefined => {
  const { held_by, receivers } = incident
  const taken = takenMark(incident, now)
  if (taken !== undefined || receivers === undefined) return taken
  // A shadow is notified of nothing.
  const mine = receivers.filter(({ state }) => state !== "discarded")
  const of = (isIn: (state: string) => boolean) =>
    namesText(mine.flatMap(({ receiver, state }) => (isIn(state) ? [receiver] : [])))
  const sent = of((state) => state === "sent")
  const before = sent === "" ? "" : `; notified ${sent}`
  // Where a parent has ended, only the notifications know that they wait for the incident's own recovery.
  const allWait = mine.every((each) => each.held_by.length > 0)
  const by = held_by.length === 0 && allWait ? mine.flatMap((each) => each.held_by) : held_by
  const holds = Array.from(new Set(by.map(holdText)))
  if (holds.length > 0)
    return { kind: "held", text: holds[0] ?? "", title: `Notifications wait: ${holds.join(", ")}${before}` }
  const unreached = mine.flatMap(({ receiver, state }) => {
    const fault = state === "sent" || state === "failed" ? undefined : faults.get(receiver)
    return fault === undefined ? [] : [unreachedText(receiver, fault)]
  })
  if (unreached.length > 0)
    return { kind: "failed", text: unreached[0] ?? "", title: `${unreached.join("; ")}${before}` }
  const failed = of((state) => state === "failed")
  if (failed !== "")
    return {
      kind: "failed",
      text: `not delivered ${failed}`,
      title: `Delivery failed for good: ${failed}${before}`,
    }
  if (mine.length === 0) return { kind: "failed", text: "nobody notified", title: "No notification was made" }
  const waiting = of((state) => state !== "sent")
  return sent === ""
    ? { kind: "held", text: `sending to ${waiting}`, title: `On its way to ${waiting}` }
    : {
        kind: "sent",
        text: `notified ${sent}`,
        title: `Notified ${sent}${waiting === "" ? "" : `; sending to ${waiting}`}`,
      }
}
