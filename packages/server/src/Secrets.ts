import process from "node:process"
import { Effect, Layer, Queue, Result } from "effect"
import { checkedSettings } from "./settings/checkedSettings.ts"
import type { Settings } from "./settings/Settings.ts"

type Follower = (settings: Settings) => Effect.Effect<void>

/** The settings of a running server, of which the secrets that are files are read again on SIGHUP. */
export class Secrets {
  readonly #followers: Array<Follower> = []
  readonly #initial: Settings

  constructor(initial: Settings) {
    this.#initial = initial
  }

  /** A list of tokens that is that of the settings, whatever they come to be. */
  list<A>(of: (settings: Settings) => ReadonlyArray<A>): ReadonlyArray<A> {
    const list = [...of(this.#initial)]
    this.#followers.push((settings) => Effect.sync(() => void list.splice(0, list.length, ...of(settings))))
    return list
  }

  /** What the settings make, made anew when they change. What was made before lasts as long as the server: it may be in use. */
  follow<A, R>(make: (settings: Settings) => Effect.Effect<A, never, R>): Effect.Effect<() => A, never, R> {
    return Effect.gen({ self: this }, function* () {
      const context = yield* Effect.context<R>()
      let made = yield* make(this.#initial)
      this.#followers.push((settings) =>
        Effect.map(Effect.provideContext(make(settings), context), (next) => {
          made = next
        }),
      )
      return () => made
    })
  }

  /** Reads the files again. Where a setting is bad by now, all stay as they were. */
  get #reload(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const settings = checkedSettings(process.env)
      if (Result.isFailure(settings)) {
        return Effect.annotateLogs(
          Effect.logError(
            "cannot reload tokens and secrets because a setting is invalid; keeping the current ones",
          ),
          { problem: settings.failure.message },
        )
      }
      return Effect.andThen(
        Effect.forEach(this.#followers, (follower) => follower(settings.success), { discard: true }),
        Effect.logInfo("tokens and secrets were read again"),
      )
    })
  }

  /** Reads them again at each SIGHUP, for as long as the layer lives. */
  get reloading(): Layer.Layer<never> {
    return Layer.effectDiscard(
      Effect.gen({ self: this }, function* () {
        const hangups = yield* Queue.sliding<void>(1)
        const note = (): void => void Queue.offerUnsafe(hangups, undefined)
        yield* Effect.acquireRelease(
          Effect.sync(() => process.on("SIGHUP", note)),
          () => Effect.sync(() => process.off("SIGHUP", note)),
        )
        yield* Effect.forkScoped(Effect.forever(Effect.andThen(Queue.take(hangups), this.#reload)))
      }),
    )
  }
}
