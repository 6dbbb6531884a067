/** Counts what is under way, for a stop that waits for it. */
export class Activity {
  #underWay = 0
  #onIdle: (() => void) | undefined

  /** Something begins; what is returned says that it has ended, and may be called again. */
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

  /** Resolves when nothing is under way, or after so long. */
  async idle(limitMillis: number): Promise<void> {
    if (this.#underWay === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMillis)
      this.#onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
