import { readFileSync, readlinkSync } from "node:fs"
import { bootId, fieldsOf } from "../spool/savedNote.ts"

/** A process among all that ever had its number. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it began, in the system's ticks; unknown where the system does not show it. */
  readonly ticks: string | undefined
  readonly boot: string
  /** The namespace of its number: a container counts for itself. */
  readonly space: string
}

export const identify = (pid: number): ProcessIdentity => ({
  pid,
  ticks: statOf(pid)?.ticks,
  boot: bootId(),
  space: spaceOf(),
})

/** A process by its saved text, which members of the group can write too. */
export const savedIdentity = (note: unknown): ProcessIdentity | undefined => {
  const { pid, ticks, boot, space } = fieldsOf(note)
  const isProcess = typeof pid === "number" && Number.isInteger(pid) && pid > 1
  if (!isProcess || typeof boot !== "string" || typeof space !== "string") return undefined
  return { pid, boot, space, ticks: typeof ticks === "string" ? ticks : undefined }
}

/** Whether a process still runs; `unknown` for one of another container, and on systems other than Linux. */
export const stateOfProcess = ({
  pid,
  ticks,
  boot,
  space,
}: ProcessIdentity): "runs" | "ended" | "unknown" => {
  if (space === "") return "unknown"
  if (boot !== bootId()) return "ended"
  if (space !== spaceOf()) return "unknown"
  try {
    process.kill(pid, 0)
  } catch (error) {
    // One of another user runs, although it cannot be signalled.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return "ended"
  }
  const now = statOf(pid)
  if (now === undefined) return "runs"
  const isSame = now.ticks === ticks || ticks === undefined
  return isSame && !ENDED.has(now.state) ? "runs" : "ended"
}

/** States of a process that has ended, and that its parent has not collected. */
const ENDED = new Set(["Z", "X"])
/** The place of the start among the fields after the name. */
const START = 19

/** A process as the system shows it; none where it hides the processes of other users. */
const statOf = (pid: number): { readonly state: string; readonly ticks: string } | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The name before the last bracket may contain anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    return { state: fields[0] ?? "", ticks: fields[START] ?? "" }
  } catch {
    return undefined
  }
}

const spaceOf = (): string => {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return ""
  }
}
