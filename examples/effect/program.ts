// Tocsin in a program of Effect's: storage and notifiers are chosen by layer, and use cases are services.
import { Console, Effect, Layer, Stream } from "effect"
import { IncidentFeed, MemoryStorage, notifiers, Queries, Tocsin } from "tocsin/effect"

/** All of a service, in memory; `SqliteStorage.layer({ file })` or `PgStorage.layer({ url })` in another. */
export const monitoring = Tocsin.layer({
  storage: MemoryStorage.layer,
  notifiers: notifiers([{ name: "console", send: ({ text }) => console.log(text) }]),
  rules: { maxPendingAgents: 100 },
})

/** Prints what happens, until it is interrupted. */
export const watch = Effect.gen(function* () {
  const { summary } = yield* Queries
  const { changes } = yield* IncidentFeed
  yield* Console.log("open incidents:", (yield* summary).open_incidents)
  yield* Stream.runForEach(changes, ({ type, incident }) => Console.log(type, incident.incident_key))
})

/** The same as a layer, to be merged with those of the program. */
export const watching = Layer.effectDiscard(Effect.forkScoped(watch)).pipe(Layer.provide(monitoring))
