import { labelName } from "@tocsin/contract/labels/labelName"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { CheckMetric, CheckNumber } from "@tocsin/core/features/checkMetrics/checkMetrics"
import type { CheckRef } from "@tocsin/core/kernel/model/CheckRef"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Stream } from "effect"
import type { AgentId, CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"

/** So many bytes are kept; of a server with more checks, the others are read again. 20,000 usual checks take 2 MiB. */
const MOST_BYTES = 4_194_304

/** A check without its title and labels; its agent stands at the first of its checks. */
type Kept = readonly [
  check: CheckId,
  isLate: boolean,
  last: readonly [status: CheckStatus, received: number, measured: number] | 0,
  agent?: readonly [AgentId, RegistrationId],
]

const write = (metrics: ReadonlyArray<CheckMetric>): string =>
  JSON.stringify(
    metrics.map(({ isLate, last, ref: { agent_id, check_id, registration_id } }, at): Kept => {
      const result = last && ([last.status, Number(last.received_at), Number(last.measured_at)] as const)
      const isOfFormer = registration_id === metrics[at - 1]?.ref.registration_id
      const kept = [check_id, isLate, result ?? 0] as const
      return isOfFormer ? kept : [...kept, [agent_id, registration_id]]
    }),
  )

const instantOf = (micros: number): Instant.Instant => Instant.fromMicros(BigInt(micros))

const read = (text: string): ReadonlyArray<CheckMetric> => {
  // These were written from the same types.
  const all = JSON.parse(text) as ReadonlyArray<Kept>
  let ofFormer: Kept[3]
  return all.flatMap(([check_id, isLate, result, agent = ofFormer]): ReadonlyArray<CheckMetric> => {
    if (agent === undefined) return []
    ofFormer = agent
    const [agent_id, registration_id] = agent
    const last =
      result === 0
        ? undefined
        : { status: result[0], received_at: instantOf(result[1]), measured_at: instantOf(result[2]) }
    return [{ ref: { agent_id, check_id, registration_id }, title: "", labels: {}, isLate, last }]
  })
}

/**
 * Keeps the checks of an answer for families that come later, as bytes: objects of all checks would take more room, and
 * the garbage collector longer than their lines take.
 */
const keptMetrics = () => {
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()
  const pieces: Array<Uint8Array> = []
  let room = MOST_BYTES
  let last: CheckRef | undefined
  return {
    /** Keeps the next checks, as long as there is room for all so far. */
    add: (metrics: ReadonlyArray<CheckMetric>): void => {
      if (room < 0) return
      const bytes = encoder.encode(write(metrics))
      room -= bytes.length
      if (room < 0) return
      pieces.push(bytes)
      last = metrics.at(-1)?.ref ?? last
    },
    /** The checks that are kept, in pieces. */
    pieces: Stream.suspend(() => Stream.rechunk(Stream.fromIterable(pieces), 1)).pipe(
      Stream.map((bytes) => read(decoder.decode(bytes))),
    ),
    /** The last check that is kept, if others follow. */
    before: (): { readonly after: CheckRef | undefined } | undefined =>
      room < 0 ? { after: last } : undefined,
  }
}

/** A check's status is its place here. */
const STATUS: ReadonlyArray<CheckStatus> = ["ok", "warning", "critical", "unknown"]
const MICROS_PER_SECOND = 1_000_000

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
    valueOf: ({ last }) => last && STATUS.indexOf(last.status),
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

/** The checks of an answer, and their numbers. */
export interface CheckMetricsSource {
  /** In pieces: those behind a check, else all. */
  readonly checks: (after?: CheckRef) => Stream.Stream<ReadonlyArray<CheckMetric>, StorageError>
  readonly numbersOf: NumbersOf
}

/**
 * Metrics of checks as text, one family after the other, in pieces (docs/rules.md#metrics-of-checks). Checks are kept
 * for the further families up to a size, and those behind them are read again for each.
 */
export const checkMetricsText = (
  { checks, numbersOf }: CheckMetricsSource,
  { isOpenMetrics, labels }: Asked,
): Stream.Stream<Uint8Array, StorageError> => {
  const encoder = new TextEncoder()
  const shown = labels.map((key) => [key, labelName(key)] as const)
  const infoLine = (metric: CheckMetric): string => {
    const names = namesOf(metric)
    let line = metric.title === "" ? names : `${names},title="${escaped(metric.title)}"`
    for (const [key, name] of shown) {
      const value = metric.labels[key] ?? ""
      if (value !== "") line += `,${name}="${escaped(value)}"`
    }
    return `tocsin_check_info{${line}} 1\n`
  }
  const kept = keptMetrics()
  const info = Stream.map(checks(), (metrics) => {
    kept.add(metrics)
    return metrics.map(infoLine).join("")
  })
  const again = Stream.suspend(() => {
    const others = kept.before()
    return others === undefined ? kept.pieces : Stream.concat(kept.pieces, checks(others.after))
  })
  const families = FAMILIES.map(({ help, name, valueOf }) => {
    const lineOf = (metric: CheckMetric): string => {
      const value = valueOf(metric)
      return value === undefined ? "" : `${name}{${namesOf(metric)}} ${value}\n`
    }
    const lines = Stream.mapEffect(again, (metrics) =>
      Effect.as(Effect.yieldNow, metrics.map(lineOf).join("")),
    )
    return Stream.concat(Stream.succeed(head(name, help)), lines)
  })
  const numbers = Stream.mapEffect(
    again,
    Effect.fnUntraced(function* (metrics) {
      let text = ""
      for (const metric of metrics) {
        const found = numbersOf(metric)
        const names = namesOf(metric)
        for (const number of Effect.isEffect(found) ? yield* found : found) text += numberLine(names, number)
      }
      yield* Effect.yieldNow
      return text
    }),
  )
  return Stream.succeed(head("tocsin_check_info", "Names of a check: its title and labels; always 1")).pipe(
    Stream.concat(info),
    (first) => families.reduce((before, family) => Stream.concat(before, family), first),
    Stream.concat(
      Stream.succeed(head("tocsin_check_number", "Last value of a series of numbers of a check")),
    ),
    Stream.concat(numbers),
    Stream.concat(Stream.succeed(isOpenMetrics ? "# EOF\n" : "")),
    Stream.filter((text) => text !== ""),
    Stream.map((text) => encoder.encode(text)),
  )
}
