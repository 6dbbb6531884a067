import { Effect, Option, Stream } from "effect"
import type { Paging } from "../Parameters.ts"
import type { Page } from "../Resources.ts"

/** The most that a page holds: fewest round trips, and bounded all the same. */
export const LARGEST_PAGE = 500

/** A list by pages and as a whole. */
export const listing = <Item, Parameters extends Paging, E>(
  list: (parameters: Parameters | undefined) => Effect.Effect<Page<Item>, E>,
) => ({
  list: (parameters?: Parameters) => list(parameters),
  all: (parameters?: Omit<Parameters, "cursor" | "back">): Stream.Stream<Item, E> =>
    Stream.paginate(undefined as string | undefined, (cursor) =>
      Effect.map(
        // Everything but the place in the list, and the place: together they are parameters of it.
        list({ limit: LARGEST_PAGE, ...parameters, ...(cursor !== undefined && { cursor }) } as Parameters),
        ({ items, next_cursor }) => [items, Option.fromNullishOr(next_cursor)] as const,
      ),
    ),
})
