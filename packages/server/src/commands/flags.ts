import { Flag } from "effect/cli"

/** Flags that several commands have, so that they mean the same everywhere. */
const flag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withoutNegation, Flag.withDefault(false))

/** Output for scripts. */
export const json = flag("json", "Write one JSON document, with the field names of the API")

/** Confirmation given in advance. */
export const yes = flag("yes", "Do it without asking").pipe(Flag.withAlias("y"))

/** Progress where nobody sees it redrawn. */
export const progress = flag(
  "progress",
  "Write progress as lines to standard error, also where that is no terminal",
)

/** Everything instead of the first rows. */
export const all = flag("all", "Read the list to its end")

/** How many rows. */
export const limit = Flag.Int("limit").pipe(
  Flag.withDescription("How many rows at most (default: 100)"),
  Flag.filter(
    (rows) => rows >= 1,
    (rows) => `Expected: a whole number above 0, got ${rows}`,
  ),
  Flag.withDefault(100),
)

/** Which way a list runs. */
export const direction = Flag.Literals("direction", ["asc", "desc"]).pipe(
  Flag.withDescription("Which way (default: desc)"),
  Flag.withDefault("desc"),
)
