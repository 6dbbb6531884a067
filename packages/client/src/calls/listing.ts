import { Effect, Option, Stream } from "effect"
import type { Paging } from "../Parameters.ts"
import type { Page } from "../Resources.ts"
import { TocsinClientError } from "../TocsinClientError.ts"

/** The most that a page holds: fewest round trips, and bounded all the same. */
const LARGEST_PAGE = 500

const ENDLESS =
  "the service gave the same next_cursor twice, so the list would never end; is baseUrl a Tocsin?"

/** What a walk over a list gives each time. */
interface Step<Item> {
  readonly items: ReadonlyArray<Item>
  readonly isLast: boolean
}

/** A walk over a list: each run of the effect gives the next page. */
export const walk = <Item, Parameters extends Paging, E>(
  list: (parameters: Parameters | undefined) => Effect.Effect<Page<Item>, E>,
  parameters: Omit<Parameters, "cursor" | "back"> | undefined,
): Effect.Effect<Step<Item>, E | TocsinClientError<"unexpected_answer">> => {
  const followed = new Set<string>()
  let cursor: string | undefined
  const page = Effect.suspend(() =>
    // Everything but the place in the list, and the place: together they are parameters of it.
    list({ limit: LARGEST_PAGE, ...parameters, ...(cursor !== undefined && { cursor }) } as Parameters),
  )
  return Effect.gen(function* () {
    const { items, next_cursor } = yield* page
    if (!next_cursor) return { items, isLast: true }
    if (followed.has(next_cursor)) {
      return yield* Effect.fail(new TocsinClientError("unexpected_answer", ENDLESS))
    }
    followed.add(next_cursor)
    cursor = next_cursor
    return { items, isLast: false }
  })
}

/** A list by pages and as a whole. */
export const listing = <Item, Parameters extends Paging, E>(
  list: (parameters: Parameters | undefined) => Effect.Effect<Page<Item>, E>,
) => ({
  list: (parameters?: Parameters) => list(parameters),
  all: (parameters?: Omit<Parameters, "cursor" | "back">) =>
    Stream.suspend(() => {
      const next = walk(list, parameters)
      return Stream.paginate(undefined, () =>
        Effect.map(
          next,
          ({ items, isLast }) => [items, isLast ? Option.none() : Option.some(undefined)] as const,
        ),
      )
    }),
})
