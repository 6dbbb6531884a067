import type { IncidentNews } from "./IncidentNews.ts"
import type { LiveChanges } from "./LiveChanges.ts"

type Changes = LiveChanges<IncidentNews>

/** The callbacks that follow the incident changes of one monitor, each one change after another. */
export class IncidentCallbacks {
  readonly #subscribe: () => Changes
  readonly #onFailure: (cause: unknown) => void
  readonly #following = new Map<Changes, Promise<void>>()

  constructor(subscribe: () => Changes, onFailure: (cause: unknown) => void) {
    this.#subscribe = subscribe
    this.#onFailure = onFailure
  }

  /** Calls back with each change from now on; returns what ends it. */
  add(callback: (change: IncidentNews) => unknown): () => void {
    const changes = this.#subscribe()
    const done = this.#follow(changes, callback).finally(() => this.#following.delete(changes))
    this.#following.set(changes, done)
    return () => void changes.return()
  }

  /** Waits for all callbacks once no more changes come, for at most so long; then none is called any more. */
  async finish(limitMillis: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMillis)
    })
    await Promise.race([Promise.all(this.#following.values()), patience])
    clearTimeout(timer)
    for (const changes of this.#following.keys()) void changes.return()
  }

  async #follow(changes: Changes, callback: (change: IncidentNews) => unknown): Promise<void> {
    for await (const change of changes) {
      try {
        await callback(change)
      } catch (cause) {
        this.#onFailure(cause)
      }
    }
  }
}
