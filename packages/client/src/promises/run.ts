import { Cause, Context, Effect, Exit } from "effect"
import { HttpClient } from "effect/http"
import { walk } from "../calls/listing.ts"
import type { Paging } from "../Parameters.ts"
import type { Page } from "../Resources.ts"
import type { TocsinClientError } from "../TocsinClientError.ts"
import type { CallOptions } from "./Client.ts"

// Spans that nobody collects would send headers along, which browsers ask a service for permission to send.
const withoutTracing = Context.make(HttpClient.TracerDisabledWhen, () => true)

/** Runs a call. Rejects with its error, or with the reason of the signal that gave it up. */
export const run = async <A>(
  call: Effect.Effect<A, TocsinClientError>,
  { signal }: CallOptions = {},
): Promise<A> => {
  signal?.throwIfAborted()
  const exit = await Effect.runPromiseExitWith(withoutTracing)(call, { signal })
  if (Exit.isSuccess(exit)) return exit.value
  signal?.throwIfAborted()
  throw Cause.squash(exit.cause)
}

/** A list by pages and as a whole, from its calls. */
export const listing = <Item, Parameters extends Paging>(
  list: (parameters?: Parameters) => Effect.Effect<Page<Item>, TocsinClientError>,
) => ({
  list: (parameters?: Parameters, options?: CallOptions) => run(list(parameters), options),
  async *all(
    parameters?: Omit<Parameters, "cursor" | "back">,
    options?: CallOptions,
  ): AsyncGenerator<Item, void, undefined> {
    const next = walk(list, parameters)
    for (;;) {
      const { items, isLast } = await run(next, options)
      for (const item of items) {
        options?.signal?.throwIfAborted()
        yield item
      }
      if (isLast) return
    }
  },
})
