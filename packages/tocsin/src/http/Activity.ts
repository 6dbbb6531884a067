import { within } from "@tocsin/reporting/program/within"

/** Counts calls and requests under way, so that `close` can wait for them. */
export class Activity {
  #underWay = 0
  #onIdle: (() => void) | undefined

  /** Begins one; the result ends it, and is safe to call twice. */
  begin(): () => void {
    let hasEnded = false
    this.#underWay += 1
    return () => {
      if (hasEnded) return
      hasEnded = true
      this.#underWay -= 1
      if (this.#underWay === 0) this.#onIdle?.()
    }
  }

  /** Resolves once none is under way, or after the limit. */
  async idle(limitMillis: number): Promise<void> {
    if (this.#underWay === 0) return
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
    await within(limitMillis, idle)
  }
}
