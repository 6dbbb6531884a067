import { Duration } from "effect"
import type { FieldProblem } from "../formats/describeIssue.ts"
import { formatDuration } from "../formats/DurationText.ts"
import { isNameServer } from "../formats/hosts.ts"
import { utf8Length } from "../formats/outputText.ts"
import { LONGEST_SENT } from "./conditions.ts"
import { HEADER_NAME, type OptionProblem, optionProblems } from "./optionProblems.ts"
import { type ProbeTarget, probesIn } from "./WatchProbe.ts"

const writtenValue = (value: unknown): unknown => {
  if (Duration.isDuration(value)) return formatDuration(value)
  return typeof value === "object" && value !== null && !Array.isArray(value) ? writtenOptions(value) : value
}

/** Options as people write them: durations as texts. */
export const writtenOptions = (options: object): object =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [name, writtenValue(value)]))

const MOST_FIELDS = 50

interface Sent {
  readonly headers?: object
  readonly body?: unknown
  readonly servers?: ReadonlyArray<string>
}

/** The problems of options that a schema of one of them cannot state, in the words of the agent's probes. */
const sentProblems = ({ body, headers = {}, servers = [] }: Sent): ReadonlyArray<OptionProblem> => {
  const names = Object.keys(headers)
  const text = typeof body === "string" ? body : JSON.stringify(body ?? "")
  return [
    ...(names.length > MOST_FIELDS
      ? [{ path: ["headers"], message: `must have at most ${MOST_FIELDS} entries` }]
      : []),
    ...names
      .filter((name) => !HEADER_NAME.test(name))
      .map((name) => ({ path: ["headers", name], message: "must have a name of letters, digits and -" })),
    ...(utf8Length(text) > LONGEST_SENT
      ? [{ path: ["body"], message: `must have at most ${LONGEST_SENT} bytes` }]
      : []),
    ...servers.flatMap((server, n) =>
      isNameServer(server) ? [] : [{ path: ["servers", n], message: NO_SERVER }],
    ),
  ]
}
const NO_SERVER = "must be an address such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:5353"

/** The problems of a probe that its schema cannot state, by its options together and by its conditions. */
export const probeProblems = (probe: ProbeTarget): ReadonlyArray<FieldProblem> =>
  probesIn(probe).flatMap((kind) => {
    const options = writtenOptions({ ...probe[kind] })
    return [...optionProblems(kind, options), ...sentProblems(options)].map(({ message, path }) => ({
      path: [kind, ...path],
      message,
    }))
  })
