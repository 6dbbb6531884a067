import { Cause, Result } from "effect"

/** The text of a thrown object of foreign code, with its stack. Reading it may throw as well. */
export const thrownText = (thrown: unknown): string =>
  Result.getOrElse(
    Result.try(() => Cause.pretty(Cause.die(thrown))),
    () => "Error: something was thrown that cannot be shown",
  )
