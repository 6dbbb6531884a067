import { Context, Effect, Layer } from "effect"
import type { NotifierName } from "@tocsin/contract/Status"
import { CurrentInstruments } from "../engine/metrics/Instruments.ts"
import { measuredNotifier } from "../engine/metrics/measuredNotifier.ts"
import { type Notifier, Notifiers } from "../ports/Notifiers.ts"

/** The notifiers of all receivers at this moment, by receiver; each counts and times its attempts. */
export class Receivers extends Context.Service<
  Receivers,
  {
    /** Ask at each use: a reload replaces it. Attempts under way keep the notifier they began with. */
    readonly current: () => ReadonlyMap<NotifierName, Notifier>
    /** Replaces all of them, together with the policy that names them. */
    readonly replace: (notifiers: ReadonlyMap<NotifierName, Notifier>) => Effect.Effect<void>
  }
>()("@tocsin/core/notifications/Receivers") {
  /** Begins with the notifiers of the port. */
  static readonly layer: Layer.Layer<Receivers, never, Notifiers> = Layer.effect(
    Receivers,
    Effect.gen(function* () {
      const instruments = yield* CurrentInstruments
      const measuredAll = (notifiers: ReadonlyMap<NotifierName, Notifier>) =>
        new Map(Array.from(notifiers, ([name, notifier]) => [name, measuredNotifier(notifier, instruments)]))
      let current = measuredAll(yield* Notifiers)
      return Receivers.of({
        current: () => current,
        replace: (notifiers) =>
          Effect.sync(() => {
            current = measuredAll(notifiers)
          }),
      })
    }),
  )
}
