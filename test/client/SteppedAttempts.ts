import type { TocsinClientError } from "@tocsin/client"
import { TocsinClient } from "@tocsin/client/TocsinClient"
import type { RedactedClientOptions } from "@tocsin/client/options/ClientOptions"
import { Effect, Fiber, Layer, Random, type Result } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { START_MILLIS } from "@tocsin/testing/samples"
import type { FaultyServer } from "./FaultyServer.ts"

/** The outcome of a call, and when its attempts began: milliseconds since the first one. */
export interface Course<A> {
  readonly outcome: Result.Result<A, TocsinClientError>
  readonly beganAt: ReadonlyArray<number>
  readonly endedAt: number
}

/** How far the clock goes at once: all pauses of interest are multiples of it. */
const STEP_MILLIS = 250
const QUIET_TURNS = 3

const turn = Effect.callback<void>((resume) => {
  const timer = setTimeout(() => resume(Effect.void), 2)
  return Effect.sync(() => clearTimeout(timer))
})

/** A fetch over real sockets that tells which attempts are under way, so that the test's clock stands still meanwhile. */
class WatchedFetch {
  readonly beganAt: Array<number> = []
  elapsed = 0
  underWay = 0

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    this.beganAt.push(this.elapsed)
    const response = await this.#watch(globalThis.fetch(input, init))
    return response.body === null ? response : new Response(this.#watched(response.body), response)
  }

  #watched(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
    const reader = body.getReader()
    return new ReadableStream({
      pull: async (controller) => {
        const { done, value } = await this.#watch(reader.read())
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    })
  }

  async #watch<A>(promise: Promise<A>): Promise<A> {
    this.underWay += 1
    try {
      return await promise
    } finally {
      this.underWay -= 1
    }
  }
}

/** A source of randomness that always says the same, so that pauses are known to the millisecond. */
const constantly = (value: number) =>
  Layer.succeed(Random.Random, { nextDoubleUnsafe: () => value, nextIntUnsafe: () => 0 })

interface CourseOptions extends Partial<RedactedClientOptions> {
  /** The draw of each pause, from 0 up to 1: with 1 pauses are at their longest. */
  readonly random?: number
  /** Whether attempts that no answer comes to are waited for by the clock, too. */
  readonly moveOn?: boolean
}

/** Makes a call to a server with the clock standing still while attempts are under way, and going on while nothing happens. */
export const courseOf = Effect.fnUntraced(function* <A>(
  server: FaultyServer,
  call: (client: TocsinClient["Service"]) => Effect.Effect<A, TocsinClientError>,
  { random = 1, moveOn = false, ...options }: CourseOptions = {},
) {
  yield* TestClock.setTime(START_MILLIS)
  const watched = new WatchedFetch()
  const sending = Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, watched.fetch))
  const client = yield* Effect.provide(
    TocsinClient.make({ baseUrl: server.address, token: "a-token", agentKey: "a-key", ...options }),
    sending,
  )
  const fiber = yield* Effect.forkChild(
    call(client).pipe(
      Effect.result,
      Effect.map((outcome): Course<A> => ({ outcome, beganAt: watched.beganAt, endedAt: watched.elapsed })),
      Effect.provide(constantly(random)),
    ),
  )
  for (let quiet = 0; fiber.pollUnsafe() === undefined;) {
    yield* turn
    const stands = watched.underWay > 0 && !(moveOn && server.arrivals.length === watched.beganAt.length)
    quiet = stands ? 0 : quiet + 1
    if (quiet < QUIET_TURNS) continue
    watched.elapsed += STEP_MILLIS
    yield* TestClock.adjust(STEP_MILLIS)
    quiet = 0
  }
  return yield* Fiber.join(fiber)
})
