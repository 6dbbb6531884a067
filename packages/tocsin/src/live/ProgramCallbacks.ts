import { AsyncLocalStorage } from "node:async_hooks"
import { Context } from "effect"

/** The program's functions that a monitor runs. `close` cannot wait for one that waits for `close`. */
export class ProgramCallbacks {
  readonly #running = new AsyncLocalStorage<() => void>()

  /** Runs a function. Resolves as it does, or with `closed` as soon as it closes the monitor. */
  run<A>(callback: () => A | PromiseLike<A>, closed: A): Promise<A> {
    return new Promise((resolve, reject) => {
      const ended = this.#running.run(
        () => resolve(closed),
        async () => await callback(),
      )
      // After `closed`, its end is its own.
      ended.then(resolve, reject)
    })
  }

  /** Within `close`: does not wait any more for the function that calls it. */
  leave(): void {
    this.#running.getStore()?.()
  }
}

/** Those of the monitor that a fiber works for. */
export const CurrentCallbacks = Context.Reference("tocsin/live/ProgramCallbacks", {
  defaultValue: () => new ProgramCallbacks(),
})
