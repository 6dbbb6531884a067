import { readdirSync, readFileSync } from "node:fs"

const KILL_AFTER_MILLIS = 5_000
/** A process that was killed is gone within this time, unless the kernel cannot end it. */
const UNKILLABLE_AFTER_MILLIS = 5_000
const BETWEEN_LOOKS_MILLIS = 200
/** So often a session must look empty. */
const LOOKS = 3

/** A process as the system shows it. */
interface ProcessStat {
  readonly state: string
  readonly group: number
  readonly session: number
  /** When it began, in the system's ticks. */
  readonly ticks: string
}

/** States of a process that has ended, and that its parent has not collected. */
const ENDED = new Set(["Z", "X"])

/** The process of a number; none where the system hides the processes of other users. */
const statOf = (pid: number | "self", proc = "/proc"): ProcessStat | undefined => {
  try {
    const text = readFileSync(`${proc}/${pid}/stat`, "utf8")
    // The name before the last bracket may contain anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    return {
      state: fields[0] ?? "",
      group: Number(fields[2]),
      session: Number(fields[3]),
      ticks: fields[19] ?? "",
    }
  } catch {
    return undefined
  }
}

export const ticksOf = (pid: number): string | undefined => statOf(pid)?.ticks

/** A process by its number, which another gets later, and its start, where the system shows it. */
interface NumberedProcess {
  readonly pid: number
  readonly ticks: string | undefined
}

/** Whether the system shows that a process has ended. */
export const hasEnded = ({ pid, ticks }: NumberedProcess): boolean => {
  const found = statOf(pid)
  return found !== undefined && (ENDED.has(found.state) || (ticks !== undefined && found.ticks !== ticks))
}

/**
 * The process groups in the session that a process leads, or led: its number is free again once both are
 * empty. `undefined` on a system that does not list processes.
 */
export const groupsOf = (
  { pid, ticks }: NumberedProcess,
  proc = "/proc",
): ReadonlySet<number> | undefined => {
  if (statOf("self", proc) === undefined) return undefined
  const leader = statOf(pid, proc)
  if (leader !== undefined && ticks !== undefined && leader.ticks !== ticks) return new Set()
  const pids = readdirSync(proc).map(Number).filter(Number.isInteger)
  // The newest first: those that fork and end at once are gone soon.
  const members = pids
    .toSorted((a, b) => b - a)
    .flatMap((number) => {
      const found = statOf(number, proc)
      return found?.session === pid && !ENDED.has(found.state) ? [found.group] : []
    })
  return new Set(members)
}

/** Signals a process, or with a negative number its group. Whether there is one; 0 only asks. */
export const signalled = (target: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(target, signal)
  } catch (error) {
    // Processes of another user are alive, although they cannot be signalled.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

/**
 * The processes of one run: the child leads their session, and members may outlive it. A program such as
 * `timeout` has its own process group there, and one that begins another session leaves it.
 */
export class ProcessSession {
  readonly #look: () => ReadonlySet<number> = () => new Set()
  #isGone: boolean

  constructor(pid: number | undefined, proc = "/proc") {
    this.#isGone = pid === undefined
    if (pid === undefined) return
    const leader = { pid, ticks: ticksOf(pid) }
    this.#look = () => groupsOf(leader, proc) ?? new Set(signalled(-pid, 0) ? [pid] : [])
  }

  isAlive(): boolean {
    return this.#groups().size > 0
  }

  /**
   * Ends what is left: SIGTERM, and SIGKILL 5 s later, before which `onKill` is called. `false` if
   * processes survive even that.
   */
  async end(onKill?: () => void): Promise<boolean> {
    if (await this.#endBy("SIGTERM", KILL_AFTER_MILLIS)) return true
    onKill?.()
    return await this.#endBy("SIGKILL", UNKILLABLE_AFTER_MILLIS)
  }

  /** Sends a signal to every process of the run. */
  signal(signal: NodeJS.Signals): void {
    for (const group of this.#groups()) signalled(-group, signal)
  }

  /** Once the session is empty its number may be given to others, so it is never asked about again. */
  #groups(): ReadonlySet<number> {
    if (this.#isGone) return new Set()
    let groups = this.#look()
    // A process that forked and ended during one look is seen by another.
    for (let looks = 1; groups.size === 0 && looks < LOOKS; looks++) groups = this.#look()
    this.#isGone = groups.size === 0
    return groups
  }

  /** Asks each process once to end, and kills again and again: members fork, and change groups. */
  async #endBy(signal: "SIGTERM" | "SIGKILL", millis: number): Promise<boolean> {
    const asked = new Set<number>()
    for (let waited = 0; waited < millis; waited += BETWEEN_LOOKS_MILLIS) {
      const groups = this.#groups()
      if (groups.size === 0) return true
      for (const group of groups) if (signal === "SIGKILL" || !asked.has(group)) signalled(-group, signal)
      for (const group of groups) asked.add(group)
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS_MILLIS))
    }
    return !this.isAlive()
  }
}
