import process from "node:process"
import { Effect, Layer, Queue, Result } from "effect"
import { onHangup } from "./onSighup.ts"
import { checkedSettings } from "./settings/checkedSettings.ts"
import type { Settings } from "./settings/Settings.ts"

type Follower = (settings: Settings) => Effect.Effect<void>

/** The secrets of a running server. SIGHUP reads those that are files again. */
export class Secrets {
  readonly #followers: Array<Follower> = []
  readonly #initial: Settings

  constructor(initial: Settings) {
    this.#initial = initial
  }

  /** Runs this with the settings each time they were read again. */
  follow(follower: Follower): void {
    this.#followers.push(follower)
  }

  /** A list of tokens whose content follows the settings. */
  list<A>(of: (settings: Settings) => ReadonlyArray<A>): ReadonlyArray<A> {
    const list = [...of(this.#initial)]
    this.#followers.push((settings) => Effect.sync(() => void list.splice(0, list.length, ...of(settings))))
    return list
  }

  /** Reads the files again. If a setting is invalid, all stay as they were. */
  get #reload(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const settings = checkedSettings(process.env)
      if (Result.isFailure(settings)) {
        return Effect.annotateLogs(
          Effect.logError(
            "cannot reload tokens and secrets because a setting is invalid; keeping the current ones",
          ),
          { problem: settings.failure.problems.join("; ") },
        )
      }
      return Effect.andThen(
        Effect.forEach(this.#followers, (follower) => follower(settings.success), { discard: true }),
        Effect.logInfo("tokens and secrets were read again"),
      )
    })
  }

  /** Reads the files again at each SIGHUP, and once if one came before the layer, for as long as that lives. */
  get reloading(): Layer.Layer<never> {
    return Layer.effectDiscard(
      Effect.gen({ self: this }, function* () {
        const onSighup = yield* Queue.sliding<void>(1)
        onHangup(() => void Queue.offerUnsafe(onSighup, undefined))
        yield* Effect.forkScoped(Effect.forever(Effect.andThen(Queue.take(onSighup), this.#reload)))
      }),
    )
  }
}
