import type { AcknowledgedAll, Incident } from "@tocsin/client"
import { segment } from "../api/request.ts"
import { countText } from "../format/times.ts"
import type { Selection } from "./selection.ts"
import { call } from "./session.ts"
import type { Message } from "./useAct.ts"

const path = (id: string): string => `ops/v1/incidents/${segment(id)}`

/** Withdraws acknowledgements, one after the other. */
const withdrawAll = async (ids: Selection): Promise<void> => {
  for (const id of ids) await call("DELETE", `${path(id)}/acknowledgement`)
}

/**
 * Acknowledges incidents, for so long and with a note if these are given; each that was is withdrawn
 * again on demand.
 */
export const acknowledge = async (ids: Selection, span = "", text = ""): Promise<Message> => {
  // The note of an acknowledgement is one line.
  const note = text.trim().replaceAll(/\s+/g, " ")
  const { items } = await call<AcknowledgedAll>("POST", "ops/v1/incidents/acknowledge", {
    body: { ids, ...(span !== "" && { for: span }), ...(note !== "" && { note }) },
  })
  const done = items.filter(({ outcome }) => outcome === "acknowledged").map(({ id }) => id)
  const missed = items.length - done.length
  const rest = missed === 0 ? "" : `; ${countText(missed, "other")} had resolved`
  return { text: `Acknowledged ${countText(done.length, "incident")}${rest}`, undo: () => withdrawAll(done) }
}

/** Withdraws the acknowledgement of an incident. */
export const withdraw = async (id: string): Promise<Message> => {
  await withdrawAll([id])
  return { text: "Withdrew the acknowledgement" }
}

/** Adds a note to an incident's story. */
export const addNote = async (id: string, text: string): Promise<Message> => {
  await call("POST", `${path(id)}/notes`, { body: { text } })
  return { text: "Added the note" }
}

/** What an incident is called in lists: its summary, or else its key. */
export const titleOf = ({ summary, incident_key }: Pick<Incident, "summary" | "incident_key">): string =>
  summary === undefined || summary.trim() === "" ? incident_key : summary
