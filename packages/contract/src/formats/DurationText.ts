import { Duration, Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { boundedMillis, durationExpected, durationText } from "./durationMillis.ts"

/** Writes a duration in the largest unit that divides it. */
export const formatDuration = (duration: Duration.Duration): string =>
  durationText(Duration.toMillis(duration))

/** A duration on the wire, of `min` to `max`. */
export const DurationText = (of: { readonly min: Duration.Input; readonly max: Duration.Input }) => {
  const bounds = {
    min: Duration.toMillis(Duration.fromInputUnsafe(of.min)),
    max: Duration.toMillis(Duration.fromInputUnsafe(of.max)),
  }
  const expected = durationExpected(bounds)
  return Schema.String.annotate({ expected, description: expected }).pipe(
    Schema.decodeTo(
      Schema.Duration,
      SchemaTransformation.transformEffect<Duration.Duration, string>({
        decode: (text, options) => {
          const millis = boundedMillis(text, bounds)
          return millis === undefined
            ? Effect.fail(new SchemaIssue.InvalidValue({ expected }, text, options))
            : Effect.succeed(Duration.millis(millis))
        },
        encode: (duration) => Effect.succeed(formatDuration(duration)),
      }),
    ),
  )
}
