// Entries that share Effect with their program.
import assert from "node:assert/strict"
import { Effect } from "effect"
import { isTocsinError, slack, TocsinError } from "tocsin"
import { isTocsinClientError, TocsinClientError } from "tocsin/client"
import { hasCode, MemoryStorage, notifiers, Queries, Tocsin, TocsinClient } from "tocsin/effect"
import { FetchHttpClient } from "effect/http"

const openCount = Effect.gen(function* () {
  const { summary } = yield* Queries
  return (yield* summary).open_incidents
})

/** Layers give services, and nothing is left to provide. */
const counted: Effect.Effect<number, unknown> = openCount.pipe(
  Effect.provide(Tocsin.layer({ storage: MemoryStorage.layer })),
)
assert.equal(await Effect.runPromise(counted), 0)

// A notifier of the library, and the class of its errors, are the same in both entries.
const refused = openCount.pipe(
  Effect.provide(
    Tocsin.layer({ storage: MemoryStorage.layer, notifiers: notifiers([slack({ url: "nowhere" })]) }),
  ),
  Effect.flip,
)
const error = await Effect.runPromise(refused)
assert(error instanceof TocsinError && isTocsinError(error))
assert.match(error.message, /^notifiers\[0\]\.url must/)

const badClient = TocsinClient.make({ baseUrl: "nowhere" }).pipe(Effect.provide(FetchHttpClient.layer))
const failure = await Effect.runPromise(Effect.flip(badClient))
assert(failure instanceof TocsinClientError && isTocsinClientError(failure) && hasCode("options")(failure))
