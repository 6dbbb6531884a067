import type { ChildProcess } from "node:child_process"

const KILL_AFTER_MILLIS = 5_000
/** A process that was killed is gone within this time, unless the kernel cannot end it. */
const UNKILLABLE_AFTER_MILLIS = 5_000
const BETWEEN_LOOKS_MILLIS = 200

/** The processes of one run: the child leads the group, and its members may outlive it. */
export class ProcessGroup {
  readonly #child: ChildProcess
  #isGone: boolean

  constructor(child: ChildProcess) {
    this.#child = child
    this.#isGone = child.pid === undefined
  }

  /** Once the group is empty its number may be given to others, so it is never asked about again. */
  isAlive(): boolean {
    if (!this.#isGone) this.#isGone = !this.#signal(0)
    return !this.#isGone
  }

  /**
   * Ends what is left: SIGTERM, and SIGKILL 5 s later, before which `onKill` is called. `false` if
   * processes survive even that.
   */
  async end(onKill?: () => void): Promise<boolean> {
    if (!this.isAlive()) return true
    this.#signal("SIGTERM")
    if (await this.#isEmptyWithin(KILL_AFTER_MILLIS)) return true
    onKill?.()
    this.#signal("SIGKILL")
    return await this.#isEmptyWithin(UNKILLABLE_AFTER_MILLIS)
  }

  /** Sends a signal to every process of the run, as a terminal does. */
  signal(signal: NodeJS.Signals): void {
    if (this.isAlive()) this.#signal(signal)
  }

  #signal(signal: NodeJS.Signals | 0): boolean {
    const { pid } = this.#child
    if (pid === undefined) return false
    try {
      return process.kill(-pid, signal)
    } catch (error) {
      // Processes of another user are alive, although they cannot be signalled.
      return error instanceof Error && "code" in error && error.code === "EPERM"
    }
  }

  async #isEmptyWithin(millis: number): Promise<boolean> {
    for (let waited = 0; waited < millis; waited += BETWEEN_LOOKS_MILLIS) {
      if (!this.isAlive()) return true
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS_MILLIS))
    }
    return !this.isAlive()
  }
}
