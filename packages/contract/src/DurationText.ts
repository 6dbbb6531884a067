import { Duration, Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"

/** Milliseconds of each unit. */
export const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** No setting is longer: times that it reaches from now stay within what every storage and format holds. */
export const LONGEST_SETTING = Duration.days(36_500)

const TEXT = /^(?<count>\d{1,9})(?<unit>ms|s|m|h|d)$/u

/** Reads a duration as people write it: `1500ms`, `90s`, `5m`, `12h`, `93d`. */
export const parseDuration = (text: string): Duration.Duration | undefined => {
  const { count, unit } = TEXT.exec(text)?.groups ?? {}
  if (count === undefined || unit === undefined) return undefined
  // The pattern admits these units only.
  return Duration.millis(Number(count) * UNITS[unit as keyof typeof UNITS])
}

/** Writes a duration in the largest unit that divides it. */
export const formatDuration = (duration: Duration.Duration): string => {
  const millis = Duration.toMillis(duration)
  for (const unit of ["d", "h", "m", "s"] as const) {
    if (millis % UNITS[unit] === 0 && (millis > 0 || unit === "s")) return `${millis / UNITS[unit]}${unit}`
  }
  return `${millis}ms`
}

/** A duration on the wire, of `min` to `max`. */
export const durationText = ({
  min,
  max,
}: {
  readonly min: Duration.Input
  readonly max: Duration.Input
}) => {
  const [shortest, longest] = [Duration.fromInputUnsafe(min), Duration.fromInputUnsafe(max)]
  const expected = `a duration such as 90s, 8h or 7d, from ${formatDuration(shortest)} to ${formatDuration(longest)}`
  return Schema.String.annotate({ expected, description: expected }).pipe(
    Schema.decodeTo(
      Schema.Duration,
      SchemaTransformation.transformEffect<Duration.Duration, string>({
        decode: (text, options) => {
          const duration = parseDuration(text)
          const fits =
            duration !== undefined && Duration.between(duration, { minimum: shortest, maximum: longest })
          return fits
            ? Effect.succeed(duration)
            : Effect.fail(new SchemaIssue.InvalidValue({ expected }, text, options))
        },
        encode: (duration) => Effect.succeed(formatDuration(duration)),
      }),
    ),
  )
}
