import type { Clock } from "@tocsin/reporting/agent/Clock"
import { afterMillis } from "../clock/awakeClock.ts"

/** Node.js has four threads for files and names, and a mount that hangs holds one until it answers. */
const AT_ONCE = 2
const PATIENCE_MILLIS = 5_000

/** Examines file systems so that those that hang leave threads for everything else. */
export class FileSystems<A> {
  readonly #look: (path: string) => Promise<A>
  readonly #patience: number
  readonly #underWay = new Map<string, Promise<A>>()

  constructor(look: (path: string) => Promise<A>, patience = PATIENCE_MILLIS) {
    this.#look = look
    this.#patience = patience
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
    while (!this.#underWay.has(path) && this.#underWay.size >= AT_ONCE) {
      const others = [...this.#underWay.values()].map((one) => one.catch(() => {}))
      await Promise.race([...others, late])
    }
    const known = this.#underWay.get(path)
    if (known !== undefined) return await known
    const answer = this.#look(path).finally(() => this.#underWay.delete(path))
    this.#underWay.set(path, answer)
    return await answer
  }

  #whyLate(path: string): string {
    return this.#underWay.has(path)
      ? "the file system does not answer"
      : `${[...this.#underWay.keys()].join(" and ")} hang`
  }
}
