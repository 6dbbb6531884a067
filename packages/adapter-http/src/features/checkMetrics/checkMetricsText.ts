import { labelName } from "@tocsin/contract/labels/labelName"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { CheckMetric, CheckNumber } from "@tocsin/core/features/checkMetrics/checkMetrics"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Stream } from "effect"

/** How a check's status is a number. */
const STATUS: Readonly<Record<CheckStatus, number>> = { ok: 0, warning: 1, critical: 2, unknown: 3 }
const MICROS_PER_SECOND = 1_000_000
/** Checks whose lines are made in one turn: a millisecond or two. */
const PIECE = 500

const escaped = (text: string): string =>
  /[\\"\n]/.test(text) ? text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"') : text

const head = (name: string, help: string): string => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`

/** A family after that of names: its line of a check has one value, or there is none. */
interface Family {
  readonly name: string
  readonly help: string
  readonly valueOf: (check: CheckMetric) => number | undefined
}

const FAMILIES: ReadonlyArray<Family> = [
  {
    name: "tocsin_check_status",
    help: "Status of a check: ok 0, warning 1, critical 2, unknown 3",
    valueOf: ({ last }) => last && STATUS[last.status],
  },
  {
    name: "tocsin_check_late",
    help: "Whether a check is late",
    valueOf: ({ isLate }) => Number(isLate),
  },
  {
    name: "tocsin_check_last_result_timestamp_seconds",
    help: "When the server received the last result of a check, in seconds since 1970",
    valueOf: ({ last }) => last && Number(last.received_at) / MICROS_PER_SECOND,
  },
]

interface Asked {
  /** Keys of labels that `tocsin_check_info` has. */
  readonly labels: ReadonlyArray<string>
  readonly isOpenMetrics: boolean
}

type NumbersOf = (
  metric: CheckMetric,
) => ReadonlyArray<CheckNumber> | Effect.Effect<ReadonlyArray<CheckNumber>, StorageError>

const namesOf = ({ ref }: CheckMetric): string =>
  `agent_id="${escaped(ref.agent_id)}",check_id="${escaped(ref.check_id)}"`

const numberLine = (names: string, { name, unit, value }: CheckNumber): string =>
  `tocsin_check_number{${names},name="${escaped(name)}"${unit === "" ? "" : `,unit="${escaped(unit)}"`}} ${value}\n`

/**
 * Metrics of checks as text, one family after the other, in pieces (docs/rules.md#metrics-of-checks). All lines of a
 * check are made as it is read. Those that wait for the families before them do so as bytes: objects of all checks
 * would take the garbage collector longer than the lines take.
 */
export const checkMetricsText = (
  checks: Stream.Stream<ReadonlyArray<CheckMetric>, StorageError>,
  numbersOf: NumbersOf,
  { isOpenMetrics, labels }: Asked,
): Stream.Stream<Uint8Array, StorageError> => {
  const encoder = new TextEncoder()
  const encoded = (text: string) => encoder.encode(text)
  const waiting = FAMILIES.map((one) => ({ ...one, lines: [encoded(head(one.name, one.help))] }))
  const numberLines = [encoded(head("tocsin_check_number", "Last value of a series of numbers of a check"))]
  const shown = labels.map((key) => [key, labelName(key)] as const)
  const infoLine = (names: string, { labels: given, title }: CheckMetric): string => {
    let line = title === "" ? names : `${names},title="${escaped(title)}"`
    for (const [key, name] of shown) {
      const value = given[key] ?? ""
      if (value !== "") line += `,${name}="${escaped(value)}"`
    }
    return `tocsin_check_info{${line}} 1\n`
  }
  /** Keeps the lines of other families, and returns those with names. */
  const linesOf = Effect.fnUntraced(function* (metrics: ReadonlyArray<CheckMetric>) {
    const names = metrics.map(namesOf)
    for (const { lines, name, valueOf } of waiting) {
      let text = ""
      for (const [at, metric] of metrics.entries()) {
        const value = valueOf(metric)
        if (value !== undefined) text += `${name}{${names[at]}} ${value}\n`
      }
      lines.push(encoded(text))
    }
    let text = ""
    let ofNumbers = ""
    for (const [at, metric] of metrics.entries()) {
      const name = names[at] ?? ""
      text += infoLine(name, metric)
      const found = numbersOf(metric)
      for (const number of Effect.isEffect(found) ? yield* found : found)
        ofNumbers += numberLine(name, number)
    }
    numberLines.push(encoded(ofNumbers))
    yield* Effect.yieldNow
    return encoded(text)
  })
  const others = Stream.suspend(() =>
    Stream.fromIterable([
      ...waiting.flatMap(({ lines }) => lines),
      ...numberLines,
      encoded(isOpenMetrics ? "# EOF\n" : ""),
    ]),
  )
  const pieces = Stream.flatMap(checks, (found) =>
    Stream.fromIterable(
      Array.from({ length: Math.ceil(found.length / PIECE) }, (_, at) =>
        found.slice(at * PIECE, (at + 1) * PIECE),
      ),
    ),
  )
  return Stream.succeed(
    encoded(head("tocsin_check_info", "Names of a check: its title and labels; always 1")),
  ).pipe(
    Stream.concat(Stream.mapEffect(pieces, linesOf)),
    Stream.concat(others),
    Stream.filter(({ length }) => length > 0),
  )
}
