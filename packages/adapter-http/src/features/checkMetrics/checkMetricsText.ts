import { labelName } from "@tocsin/contract/labels/labelName"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { CheckMetric, CheckNumber } from "@tocsin/core/features/checkMetrics/checkMetrics"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Stream } from "effect"

/** How a check's status is a number. */
const STATUS: Readonly<Record<CheckStatus, number>> = { ok: 0, warning: 1, critical: 2, unknown: 3 }
const MICROS_PER_SECOND = 1_000_000
/** Checks whose lines are made in one turn: a millisecond or two. */
const PIECE = 1_000

const escaped = (text: string): string =>
  /[\\"\n]/.test(text) ? text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"') : text

const head = (name: string, help: string): string => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`

/** A check with the labels of its further lines, kept from the first to the last family. */
interface Kept {
  readonly metric: CheckMetric
  readonly names: string
}

/** The lines of one family, in pieces. */
const family = (
  name: string,
  help: string,
  kept: ReadonlyArray<Kept>,
  valueOf: (one: CheckMetric) => number | undefined,
) => {
  const pieces = Array.from({ length: Math.ceil(kept.length / PIECE) }, (_, n) => n * PIECE)
  const linesFrom = (first: number): string => {
    let text = ""
    for (const { metric, names } of kept.slice(first, first + PIECE)) {
      const value = valueOf(metric)
      if (value !== undefined) text += `${name}{${names}} ${value}\n`
    }
    return text
  }
  const lines = Stream.mapEffect(Stream.fromIterable(pieces), (first) =>
    Effect.as(Effect.yieldNow, linesFrom(first)),
  )
  return Stream.concat(Stream.succeed(head(name, help)), lines)
}

interface Asked {
  /** Keys of labels that `tocsin_check_info` has. */
  readonly labels: ReadonlyArray<string>
  readonly isOpenMetrics: boolean
}

type NumbersOf = (
  metric: CheckMetric,
) => ReadonlyArray<CheckNumber> | Effect.Effect<ReadonlyArray<CheckNumber>, StorageError>

/** Metrics of checks as text, one family after the other, in pieces (docs/rules.md#metrics-of-checks). */
export const checkMetricsText = (
  checks: Stream.Stream<ReadonlyArray<CheckMetric>, StorageError>,
  numbersOf: NumbersOf,
  { isOpenMetrics, labels }: Asked,
): Stream.Stream<string, StorageError> => {
  const kept: Array<Kept> = []
  const shown = labels.map((key) => [key, labelName(key)] as const)
  const infoLines = (metrics: ReadonlyArray<CheckMetric>): string => {
    let text = ""
    for (const metric of metrics) {
      const { labels: given, ref, title } = metric
      const names = `agent_id="${escaped(ref.agent_id)}",check_id="${escaped(ref.check_id)}"`
      kept.push({ metric, names })
      let line = title === "" ? names : `${names},title="${escaped(title)}"`
      for (const [key, name] of shown) {
        const value = given[key] ?? ""
        if (value !== "") line += `,${name}="${escaped(value)}"`
      }
      text += `tocsin_check_info{${line}} 1\n`
    }
    return text
  }
  const numberLines = (first: number) =>
    Effect.gen(function* () {
      let text = ""
      for (const { metric, names } of kept.slice(first, first + PIECE)) {
        const numbers = numbersOf(metric)
        for (const { name, unit, value } of Effect.isEffect(numbers) ? yield* numbers : numbers) {
          const ofUnit = unit === "" ? "" : `,unit="${escaped(unit)}"`
          text += `tocsin_check_number{${names},name="${escaped(name)}"${ofUnit}} ${value}\n`
        }
      }
      yield* Effect.yieldNow
      return text
    })
  const others = Stream.suspend(() => {
    const pieces = Array.from({ length: Math.ceil(kept.length / PIECE) }, (_, n) => n * PIECE)
    const numbers = Stream.concat(
      Stream.succeed(head("tocsin_check_number", "Last value of a series of numbers of a check")),
      Stream.mapEffect(Stream.fromIterable(pieces), numberLines),
    )
    return family(
      "tocsin_check_status",
      "Status of a check: ok 0, warning 1, critical 2, unknown 3",
      kept,
      ({ last }) => last && STATUS[last.status],
    ).pipe(
      Stream.concat(
        family("tocsin_check_late", "Whether a check is late", kept, ({ isLate }) => Number(isLate)),
      ),
      Stream.concat(
        family(
          "tocsin_check_last_result_timestamp_seconds",
          "When the server received the last result of a check, in seconds since 1970",
          kept,
          ({ last }) => last && Number(last.received_at) / MICROS_PER_SECOND,
        ),
      ),
      Stream.concat(numbers),
      Stream.concat(Stream.succeed(isOpenMetrics ? "# EOF\n" : "")),
    )
  })
  return Stream.succeed(head("tocsin_check_info", "Names of a check: its title and labels; always 1")).pipe(
    Stream.concat(Stream.map(checks, infoLines)),
    Stream.concat(others),
    Stream.filter((text) => text !== ""),
  )
}
