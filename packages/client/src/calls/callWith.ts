import { Effect, Schema } from "effect"
import type { ReadOptions } from "../options/readOptions.ts"
import { type CallError, type CodeOf, toClientError } from "../sending/toClientError.ts"
import { type ClientFailure, TocsinClientError } from "../TocsinClientError.ts"

/** One kind of call, between what a caller gives and gets and what the definition wants and gives. */
interface Call<Input, Decoded, Success extends Schema.ConstraintEncoder<unknown>, E extends CallError> {
  readonly decode: (input: Input) => Effect.Effect<Decoded, ClientFailure<"validation">>
  readonly send: (decoded: Decoded) => Effect.Effect<Success["Type"], E>
  readonly success: Success
}

/** Makes calls under one secret. What a call is given is checked first, and nothing is sent without the secret. */
export const callWith =
  (options: ReadOptions, name: "token" | "agentKey") =>
  <Input, Decoded, Success extends Schema.ConstraintEncoder<unknown>, E extends CallError>(
    call: Call<Input, Decoded, Success, E>,
  ) => {
    const encode = Schema.encodeSync(call.success)
    return (
      input: Input,
    ): Effect.Effect<Success["Encoded"], ClientFailure<CodeOf<E> | "validation" | "unauthorized">> =>
      Effect.gen(function* () {
        const decoded = yield* call.decode(input)
        if (options[name] === undefined) return yield* Effect.fail(lacking(name))
        return encode(yield* toClientError(options.origin)(call.send(decoded)))
      })
  }

/** {@link callWith} for one of the secrets. */
export type CallMaker = ReturnType<typeof callWith>

const lacking = (name: string) =>
  new TocsinClientError(
    "unauthorized",
    `this call needs the client's option ${name}; give it when you make the client`,
  )

/** For calls that are given nothing. */
export const decodeNothing = (_: void): Effect.Effect<void> => Effect.void
