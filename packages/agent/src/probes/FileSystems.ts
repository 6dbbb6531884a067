import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { afterMillis } from "../clock/Clock.ts"

/** Node.js has four threads for files and names, and a mount that hangs holds one until it answers. */
const AT_ONCE = 2
const PATIENCE_MILLIS = 5_000

/** A thread that waits for a file system. */
interface Look {
  readonly path: string
  readonly answer: Promise<unknown>
}

/** Of all probes, because all share the threads. */
const allLooks = new Set<Look>()

/** Examines file systems so that those that hang leave threads for everything else. */
export class FileSystems<A> {
  readonly #look: (path: string) => Promise<A>
  readonly #patience: number
  readonly #looks: Set<Look>
  readonly #underWay = new Map<string, Promise<A>>()

  constructor(look: (path: string) => Promise<A>, patience = PATIENCE_MILLIS, looks = allLooks) {
    this.#look = look
    this.#patience = patience
    this.#looks = looks
  }

  /** Rejects if the file system does not answer in time, or others that hang keep it waiting. */
  async examine(path: string, clock: Clock): Promise<A> {
    let cancelLimit = (): void => {}
    const late = new Promise<never>((_, reject) => {
      cancelLimit = afterMillis(clock, this.#patience, () => reject(new Error(this.#whyLate(path))))
    })
    try {
      return await Promise.race([this.#answerOf(path, late), late])
    } finally {
      cancelLimit()
    }
  }

  async #answerOf(path: string, late: Promise<never>): Promise<A> {
    while (!this.#underWay.has(path) && this.#looks.size >= AT_ONCE) {
      const others = [...this.#looks].map(({ answer }) => answer.catch(() => {}))
      await Promise.race([...others, late])
    }
    const known = this.#underWay.get(path)
    if (known !== undefined) return await known
    const answer = this.#look(path).finally(() => {
      this.#underWay.delete(path)
      this.#looks.delete(look)
    })
    const look = { path, answer }
    this.#underWay.set(path, answer)
    this.#looks.add(look)
    return await answer
  }

  #whyLate(path: string): string {
    return this.#underWay.has(path)
      ? "the file system does not answer"
      : `${[...this.#looks].map((look) => look.path).join(" and ")} hang`
  }
}
