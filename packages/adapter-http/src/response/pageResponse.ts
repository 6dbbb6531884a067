import { Effect, Predicate, Schema } from "effect"
import { HttpServerResponse } from "effect/http"

/** Items that are encoded in one turn of the event loop, and characters of their text: some milliseconds. */
const PIECE = 50
const PIECE_CHARACTERS = 65_536
/** Of a size that is not known yet, such as policies of a megabyte. */
const FIRST_PIECE = 2

type Codec = Schema.ConstraintCodec<unknown, unknown>

const itemsOf = (answer: unknown): ReadonlyArray<unknown> =>
  Predicate.hasProperty(answer, "items") && Array.isArray(answer.items) ? answer.items : []

/** Encodes a long page in pieces, between which results pass; other answers stay as they are. */
export const pageResponse = (success: Codec) => {
  const encode = Schema.encodeUnknownSync(success)
  return Effect.fnUntraced(function* (answer: unknown) {
    const items = itemsOf(answer)
    if (items.length <= FIRST_PIECE || !Predicate.isObject(answer)) return answer
    const pieces: Array<string> = []
    let many = FIRST_PIECE
    for (let first = 0; first < items.length;) {
      const part = itemsOf(encode({ ...answer, items: items.slice(first, first + many) }))
      const text = JSON.stringify(part).slice(1, -1)
      pieces.push(text)
      first += many
      const fitting = Math.floor((many * PIECE_CHARACTERS) / Math.max(1, text.length))
      many = Math.max(1, Math.min(fitting, PIECE))
      yield* Effect.yieldNow
    }
    // Within a text, a quote has a backslash before it.
    const [before = "", ...after] = JSON.stringify(encode({ ...answer, items: [] })).split('"items":[]')
    const text = `${before}"items":[${pieces.join(",")}]${after.join('"items":[]')}`
    return HttpServerResponse.text(text, { contentType: "application/json" })
  })
}
