import { Duration } from "effect"
import type { FieldProblem } from "../formats/describeIssue.ts"
import { formatDuration } from "../formats/DurationText.ts"
import { optionProblems } from "./optionProblems.ts"
import { type ProbeTarget, probesIn } from "./WatchProbe.ts"

const writtenValue = (value: unknown): unknown => {
  if (Duration.isDuration(value)) return formatDuration(value)
  return typeof value === "object" && value !== null && !Array.isArray(value) ? writtenOptions(value) : value
}

/** Options as people write them: durations as texts. */
export const writtenOptions = (options: object): object =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [name, writtenValue(value)]))

/** The problems of a probe that its schema cannot state, by its options together and by its conditions. */
export const probeProblems = (probe: ProbeTarget): ReadonlyArray<FieldProblem> =>
  probesIn(probe).flatMap((kind) =>
    optionProblems(kind, writtenOptions({ ...probe[kind] })).map(({ message, path }) => ({
      path: [kind, ...path],
      message,
    })),
  )
