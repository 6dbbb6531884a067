import { Effect, Option, Stream } from "effect"
import type { Page } from "../Resources.ts"
import { TocsinClientError } from "../TocsinClientError.ts"

/** The most that a page holds: fewest round trips, and still bounded. */
const LARGEST_PAGE = 500

const ENDLESS =
  "the service gave the same next_cursor twice, so the list would never end; is baseUrl a Tocsin?"

/**
 * The items of all pages of a list. Fails if a cursor repeats, because the list would never end.
 */
export const walkPages =
  <E>(list: (parameters: object) => Effect.Effect<unknown, E>) =>
  (parameters: object = {}): Stream.Stream<unknown, E | TocsinClientError<"unexpected_answer">> =>
    Stream.suspend(() => {
      const followed = new Set<string>()
      return Stream.paginate<object, unknown, E | TocsinClientError<"unexpected_answer">>({}, (place) =>
        Effect.flatMap(list({ limit: LARGEST_PAGE, ...parameters, ...place }), (answer) => {
          const { items, next_cursor } = answer as Page<unknown>
          if (!next_cursor) return Effect.succeed([items, Option.none()])
          if (followed.has(next_cursor))
            return Effect.fail(new TocsinClientError("unexpected_answer", ENDLESS))
          followed.add(next_cursor)
          return Effect.succeed([items, Option.some({ cursor: next_cursor })])
        }),
      )
    })
