import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import { agentRecord, checkRecord } from "./records.ts"

const CHARACTERS = 256

/** A text that shares no memory, two bytes a character. */
const textOf = (...parts: ReadonlyArray<number>): string =>
  String(JSON.parse(JSON.stringify(parts.join("-").padEnd(CHARACTERS, "\u65e5"))))

/** An agent with as many labels as it may have, of the greatest length, or with all titles, and a check of it. */
export const largeRows = (
  n: number,
  of: "labels" | "titles",
): { readonly agent: AgentRecord; readonly check: CheckRecord } => {
  const labels = Object.fromEntries(
    Array.from({ length: 32 }, (_, label) => [`label-${label}`, textOf(n, label)]),
  )
  const titles = { title: textOf(n, 1), given_title: textOf(n, 2), declared_title: textOf(n, 3) }
  const agent = agentRecord(`agent-${n}`, of === "labels" ? { labels } : titles)
  return { agent, check: { ...checkRecord(agent, "check"), summary: textOf(n) } }
}

/** How many bytes of memory are held after `fill` that were not before. */
export const heldAfter = (fill: () => void): number => {
  setFlagsFromString("--expose-gc")
  // The flag makes it a function of new contexts.
  const collect = runInNewContext("gc") as () => void
  collect()
  const before = process.memoryUsage().heapUsed
  fill()
  collect()
  return process.memoryUsage().heapUsed - before
}
