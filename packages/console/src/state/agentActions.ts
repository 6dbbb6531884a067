import type { Agent } from "@tocsin/client"
import { failureAfter } from "../api/ApiFailure.ts"
import { segment } from "../api/request.ts"
import { countText } from "../format/times.ts"
import { MOST } from "./lists.ts"
import { call, carryOut } from "./session.ts"
import type { Message } from "./useAction.ts"

export const isWaiting = ({ admission_state, rotation_pending }: Agent): boolean =>
  admission_state === "pending" || rotation_pending === true

const decideEach = async (
  ids: ReadonlyArray<string>,
  decision: "accept" | "block",
  textOf: (count: number) => string,
): Promise<Message> => {
  let count = 0
  for (const id of ids) {
    try {
      const answer = await call<{ count: number }>("POST", `api/v1/agents/${segment(id)}/${decision}`)
      count += answer.count
    } catch (error) {
      throw count === 0 ? error : failureAfter(textOf(count), error)
    }
  }
  return { text: textOf(count) }
}

export const accept = (ids: ReadonlyArray<string>): Promise<Message> =>
  decideEach(ids, "accept", (count) => `Accepted ${countText(count, "agent")}`)

export const block = (ids: ReadonlyArray<string>): Promise<Message> =>
  decideEach(ids, "block", (count) => `Blocked ${countText(count, "key")}`)

/** Asks before blocking keys: an agent without another key is deleted. */
export const blockQuestion = (agents: ReadonlyArray<Agent>): readonly [text: string, goAhead: string] => {
  const keys = countText(agents.length, "key")
  const deleted = agents.filter(({ rotation_pending }) => rotation_pending !== true)
  const consequence =
    deleted.length === 0
      ? "Their agents keep the key that they report with."
      : `This deletes ${deleted.length === 1 ? deleted[0]?.agent_id : countText(deleted.length, "agent")} with all checks and their history.`
  return [`Block ${keys}? ${consequence}`, deleted.length === 0 ? `Block ${keys}` : "Block and delete"]
}

export const removeAgent = (id: string): Promise<Message> =>
  carryOut(`Deleted ${id}`, "DELETE", `api/v1/agents/${segment(id)}`)

/** Accepts every waiting key, except for those that replace an accepted one. */
export const acceptAll = async (): Promise<Message> => {
  const { count } = await call<{ count: number }>("POST", "api/v1/agents/admission/accept-all")
  const { items } = await call<{ items: ReadonlyArray<Agent> }>("GET", "api/v1/agents", {
    query: { limit: MOST },
  })
  const left = items.filter(({ admission_state }) => admission_state === "pending").length
  const again = left === 0 ? "" : `; ${countText(left, "agent")} still pending: accept all again`
  return { text: `Accepted ${countText(count, "agent")}${again}` }
}

export const endEnrolment = (id: string): Promise<Message> =>
  carryOut("Removed the line: it admits no more hosts", "DELETE", `ops/v1/enrolments/${segment(id)}`)

const UNBLOCKED = "Unblocked the key: its next heartbeat registers it again"

export const unblock = (id: string): Promise<Message> =>
  carryOut(UNBLOCKED, "DELETE", `api/v1/agents/admission/blacklist/${segment(id)}`)
