import { Duration } from "effect"
import type { FieldProblem } from "../formats/describeIssue.ts"
import { formatDuration } from "../formats/DurationText.ts"
import { isNameServer, NAME_SERVER_RULE } from "../formats/hosts.ts"
import { lineProblem, textProblem } from "../formats/lineProblem.ts"
import { utf8Length } from "../formats/outputText.ts"
import { HEADER_NAME, type OptionProblem, optionProblems } from "./optionProblems.ts"
import { LONGEST, MOST } from "./watchOptions.ts"
import { type ProbeTarget, probesIn } from "./WatchProbe.ts"

const writtenValue = (value: unknown): unknown => {
  if (Duration.isDuration(value)) return formatDuration(value)
  return typeof value === "object" && value !== null && !Array.isArray(value) ? writtenOptions(value) : value
}

/** Options as people write them: durations as texts. */
export const writtenOptions = (options: object): object =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [name, writtenValue(value)]))

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
    ...(names.length > MOST.headers
      ? [{ path: ["headers"], message: `must have at most ${MOST.headers} entries` }]
      : []),
    ...names
      .filter((name) => !HEADER_NAME.form.test(name))
      .map((name) => ({ path: ["headers", name], message: `must have a name of ${HEADER_NAME.expected}` })),
    ...(utf8Length(text) > LONGEST.sent
      ? [{ path: ["body"], message: `must have at most ${LONGEST.sent} bytes` }]
      : []),
    ...servers.flatMap((server, n) =>
      isNameServer(server) ? [] : [{ path: ["servers", n], message: NAME_SERVER_RULE }],
    ),
  ]
}

/** The problems of texts in options: what is sent, and what must come over a connection, may have lines. */
const textProblems = (value: unknown, path: OptionProblem["path"]): ReadonlyArray<OptionProblem> => {
  if (typeof value === "string") {
    const hasLines = path.length === 1 && ["body", "send", "expect"].includes(String(path[0]))
    const message = hasLines ? textProblem(value) : lineProblem(value)
    return message === undefined ? [] : [{ path, message }]
  }
  if (typeof value !== "object" || value === null || path[0] === "body") return []
  const parts = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return parts.flatMap(([name, part]) => textProblems(part, [...path, name]))
}

/** The problems of a probe that its schema cannot state, by its options together and by its conditions. */
export const probeProblems = (probe: ProbeTarget): ReadonlyArray<FieldProblem> =>
  probesIn(probe).flatMap((kind) => {
    const options = writtenOptions({ ...probe[kind] })
    return [...optionProblems(kind, options), ...sentProblems(options), ...textProblems(options, [])].map(
      ({ message, path }) => ({
        path: [kind, ...path],
        message,
      }),
    )
  })

/** That of a certificate's days by which the warning never comes. Policies may have them since before this was a problem. */
export const daysProblems = ({ http, tls }: ProbeTarget): ReadonlyArray<FieldProblem> =>
  Object.entries({ http, tls }).flatMap(([kind, options]) => {
    const { critical = 0, warning = critical } = options?.days ?? {}
    const message = "must not be less than critical, or the warning never comes"
    return warning < critical ? [{ path: [kind, "days", "warning"], message }] : []
  })
