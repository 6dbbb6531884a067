import { Effect, Predicate, Schema } from "effect"
import { HttpServerResponse } from "effect/http"

/** Items that are encoded in one turn of the event loop: some milliseconds. */
const PIECE = 50

type Codec = Schema.ConstraintCodec<unknown, unknown>

const itemsOf = (answer: unknown): ReadonlyArray<unknown> =>
  Predicate.hasProperty(answer, "items") && Array.isArray(answer.items) ? answer.items : []

/** Encodes a long page in pieces, between which results pass; other answers stay as they are. */
export const pageResponse = (success: Codec) => {
  const encode = Schema.encodeUnknownSync(success)
  return Effect.fnUntraced(function* (answer: unknown) {
    const items = itemsOf(answer)
    if (items.length <= PIECE || !Predicate.isObject(answer)) return answer
    const pieces: Array<string> = []
    for (let first = 0; first < items.length; first += PIECE) {
      const part = encode({ ...answer, items: items.slice(first, first + PIECE) })
      pieces.push(JSON.stringify(itemsOf(part)).slice(1, -1))
      yield* Effect.yieldNow
    }
    // Within a text, a quote has a backslash before it.
    const [before = "", ...after] = JSON.stringify(encode({ ...answer, items: [] })).split('"items":[]')
    const text = `${before}"items":[${pieces.join(",")}]${after.join('"items":[]')}`
    return HttpServerResponse.text(text, { contentType: "application/json" })
  })
}
