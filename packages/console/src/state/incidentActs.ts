import type { AcknowledgedAll, Incident } from "@tocsin/client"
import { segment } from "../api/request.ts"
import { countText, numberText } from "../format/times.ts"
import { listOf, MOST, readAll } from "./lists.ts"
import type { Selection } from "./selection.ts"
import { call } from "./session.ts"
import { type Message, UNDONE } from "./useAct.ts"

const path = (id: string): string => `ops/v1/incidents/${segment(id)}`

/** Withdraws acknowledgements, one after the other. */
const withdrawAll = async (ids: Selection): Promise<void> => {
  for (const id of ids) await call("DELETE", `${path(id)}/acknowledgement`)
}

/** The acknowledged incidents. Read for each act: a selection may exceed the rows that the page has. */
const readTaken = async (): Promise<ReadonlySet<string>> => {
  const taken = listOf<Incident>("ops/v1/incidents", { state: "open", acknowledged: true }, MOST)
  return new Set((await readAll(taken)).map(({ id }) => id))
}

/** How to acknowledge one incident, also in place of another acknowledgement. */
interface Replacing {
  readonly span: string
  readonly text: string
}

/**
 * Acknowledges incidents. Those that are acknowledged already are left out, unless one is replaced:
 * Undo withdraws, and so could not restore what was there before.
 */
export const acknowledge = async (ids: Selection, replacing?: Replacing): Promise<Message> => {
  const taken = await readTaken()
  const asked = replacing === undefined ? ids.filter((id) => !taken.has(id)) : ids
  const { span = "", text = "" } = replacing ?? {}
  // The note of an acknowledgement is one line.
  const note = text.trim().replaceAll(/\s+/g, " ")
  const body = { ids: asked, ...(span !== "" && { for: span }), ...(note !== "" && { note }) }
  const { items } =
    asked.length === 0
      ? { items: [] }
      : await call<AcknowledgedAll>("POST", "ops/v1/incidents/acknowledge", { body })
  const done = items.filter(({ outcome }) => outcome === "acknowledged").map(({ id }) => id)
  const [leftOut, missed] = [ids.length - asked.length, items.length - done.length]
  const added = done.filter((id) => !taken.has(id))
  return {
    text: [
      `Acknowledged ${countText(done.length, "incident")}`,
      ...(leftOut === 0 ? [] : [`left out ${numberText(leftOut)} already acknowledged`]),
      ...(missed === 0 ? [] : [`${countText(missed, "other")} had resolved`]),
    ].join("; "),
    undo:
      added.length === 0
        ? undefined
        : async () => {
            await withdrawAll(added)
            return UNDONE
          },
  }
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
