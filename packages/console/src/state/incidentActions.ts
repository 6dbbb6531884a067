import type { AcknowledgedAll, HeldIncident, Incident } from "@tocsin/client"
import { segment } from "../api/request.ts"
import { countText, numberText } from "../format/times.ts"
import { listOf, MOST, readAll } from "./lists.ts"
import type { Selection } from "./Route.ts"
import { call, carryOut } from "./session.ts"
import type { Titled } from "./names.ts"
import { confirmed, type Message, UNDONE } from "./useAction.ts"

const path = (id: string): string => `ops/v1/incidents/${segment(id)}`

/**
 * When each acknowledged incident was acknowledged. Read again each time, because the selection may include rows
 * that are not loaded.
 */
const readTaken = async (): Promise<ReadonlyMap<string, string>> => {
  const query = { state: "open", acknowledged: true }
  const taken = await readAll(listOf<HeldIncident>("ops/v1/incidents", query, MOST))
  return new Map(taken.map(({ id, acknowledgement }) => [id, acknowledgement?.at ?? ""]))
}

/** Withdraws acknowledgements, but none that took the place of one of these. */
const withdrawEach = async (made: ReadonlyMap<string, string>): Promise<Message> => {
  const taken = await readTaken()
  const mine = Array.from(made.keys()).filter((id) => taken.get(id) === made.get(id))
  for (const id of mine) await withdraw(id)
  const others = Array.from(made.keys()).filter((id) => taken.has(id)).length - mine.length
  if (others === 0) return UNDONE
  const text = `Withdrew ${countText(mine.length, "acknowledgement")}`
  return { text: `${text}; left out ${numberText(others)} acknowledged again` }
}

/** How to acknowledge one incident, also in place of another acknowledgement. */
interface Replacing {
  readonly span: string
  readonly text: string
}

/** Above so many, a click or a key by mistake would hide much. */
const MANY = 10

/**
 * Acknowledges incidents; asks first where they are many. Those that are acknowledged already are left
 * out, unless one is replaced: Undo withdraws, and so could not restore what was there before.
 */
export const acknowledge = async (ids: Selection, replacing?: Replacing): Promise<Message | undefined> => {
  const question = `Acknowledge ${countText(ids.length, "incident")}?`
  if (ids.length > MANY && !(await confirmed(question, `Acknowledge all ${ids.length}`, false)))
    return undefined
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
  const added = new Set(done.filter((id) => !taken.has(id)))
  // Undo must know them by their times. Without these, the incidents are acknowledged all the same.
  const now = added.size === 0 ? [] : await readTaken().catch(() => [])
  const made = new Map(Array.from(now).filter(([id]) => added.has(id)))
  return {
    text: [
      `Acknowledged ${countText(done.length, "incident")}`,
      ...(leftOut === 0 ? [] : [`left out ${numberText(leftOut)} already acknowledged`]),
      ...(missed === 0 ? [] : [`${countText(missed, "other")} had resolved`]),
    ].join("; "),
    undo: made.size === 0 ? undefined : () => withdrawEach(made),
  }
}

export const withdraw = (id: string): Promise<Message> =>
  carryOut("Withdrew the acknowledgement", "DELETE", `${path(id)}/acknowledgement`)

export const addNote = (id: string, text: string): Promise<Message> =>
  carryOut("Added the note", "POST", `${path(id)}/notes`, { body: { text } })

/** The check that opened an incident, the agent that is silent, or else its key. */
export const subjectText = ({ agent_id, check_id = "", incident_key }: Incident): string =>
  agent_id === undefined || check_id === ""
    ? incident_key.replace(/\/@heartbeat$/, "")
    : `${agent_id}/${check_id}`

type Ended = Pick<Partial<HeldIncident>, "resolution">

/** The state of an incident that resolved: ok where its check is ok again. */
export const endState = ({ resolution }: Ended): string =>
  resolution?.reason === "recovered" ? "ok" : "past"

/** How an incident ended whose check is not known to be ok. */
export const endText = (incident: Ended): string | undefined =>
  endState(incident) === "ok" ? undefined : incident.resolution?.text

/** How people call an incident: the title of its worst member, else what opened it. */
export const nameOf = (incident: Incident & Titled): string => incident.title ?? subjectText(incident)
