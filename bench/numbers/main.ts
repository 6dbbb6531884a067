import { statSync } from "node:fs"
import process from "node:process"
import { parseArgs } from "node:util"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Decision } from "@tocsin/core/kernel/unitOfWork/Decision"
import { transact } from "@tocsin/testing/transact"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import { Gathering } from "@tocsin/core/features/numbers/Gathering"
import { PART_KINDS, startOf } from "@tocsin/core/features/numbers/NumberPart"
import { roundSpans } from "@tocsin/core/features/numbers/packSpans"
import { spanOf } from "@tocsin/core/features/numbers/Span"
import type { NumberStorage, NumberPart, PartKind, Span } from "@tocsin/core/kernel/ports/NumberStorage"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { agentRecord, checkRecord } from "@tocsin/testing/records"
import { Context, Effect, Layer, Redacted } from "effect"
import pg from "pg"

const USAGE = `Fills a new storage with a quarter of numbers over time, and measures memory, writes, reads and disk.

  node bench/numbers/main.ts --database postgres://…  |  --file tocsin.db  |  --memory    [--series 20000] [--days 93]`

const { values } = parseArgs({
  options: {
    database: { type: "string" },
    file: { type: "string" },
    memory: { type: "boolean", default: false },
    series: { type: "string", default: "20000" },
    days: { type: "string", default: "93" },
  },
})

const SERIES = Number(values.series)
const DAYS = Number(values.days)
const OF_CHECK = 10
const CHECKS_OF_AGENT = 20
const SERVER = "00000000-0000-7000-8000-00000000000a"
const PIECE = 200
const { length: HOUR } = PART_KINDS.hour
const { length: DAY } = PART_KINDS.day
const MIB = 1_048_576
const END = Math.floor(Date.now() / DAY) * DAY + DAY / 2

const checks: ReadonlyArray<CheckRecord> = Array.from(
  { length: SERIES / OF_CHECK / CHECKS_OF_AGENT },
  (_, agent) => agentRecord(`host-${agent}`),
).flatMap((agent) =>
  Array.from({ length: CHECKS_OF_AGENT }, (_, check) => checkRecord(agent, `check-${check}`)),
)

/** Values of two decimals, as plugins print them. */
const measured = () => Math.round(Math.random() * 10_000) / 100

const span = (): Span => {
  const [least = 0, mean = 0, last = 0, most = 0] = [measured(), measured(), measured(), measured()].toSorted(
    (a, b) => a - b,
  )
  return { ...spanOf(last, 0.9), count: 5, least, mean, most }
}

/** A part of each series, in pieces that one transaction writes. */
function* parts(kind: PartKind, start: number): Generator<ReadonlyArray<NumberPart>> {
  const places = kind === "hour" ? 12 : 24
  const all = checks.flatMap(({ agent_id, check_id, registration_id }) =>
    Array.from({ length: OF_CHECK }, (_, index) => ({
      agent_id,
      check_id,
      registration_id,
      kind,
      start,
      name: `value-${index}`,
      unit: "",
    })),
  )
  for (let first = 0; first < all.length; first += PIECE)
    yield all.slice(first, first + PIECE).map((part) => {
      const spans = Array.from({ length: places }, span)
      return { ...part, spans: kind === "day" ? roundSpans(spans) : spans }
    })
}

const print = (name: string, value: string) => process.stdout.write(`${name}: ${value}\n`)

const timed = Effect.fnUntraced(function* <A, E>(name: string, effect: Effect.Effect<A, E>) {
  const [start, cpu] = [performance.now(), process.cpuUsage()]
  const done = yield* effect
  const { system, user } = process.cpuUsage(cpu)
  const took = (performance.now() - start).toFixed(0)
  print(name, `${took} ms, ${((system + user) / 1_000).toFixed(0)} ms of this process's processor`)
  return done
})

const writeAll = (numbers: NumberStorage, kind: PartKind, start: number) =>
  Effect.forEach(
    parts(kind, start),
    (piece) =>
      numbers.write(
        SERVER,
        piece.map((part) => ({ ...part, since: start })),
      ),
    { discard: true },
  )

const fill = Effect.fnUntraced(function* (storage: Storage["Service"], numbers: NumberStorage) {
  for (const [agent_id, of] of Map.groupBy(checks, (check) => check.agent_id))
    yield* transact(storage, function* (unit): Decision<void> {
      yield* [{ agents: [agent_id] }, { checks: { agent_id, check_ids: of.map(({ check_id }) => check_id) } }]
      unit.putAgent(agentRecord(agent_id))
      for (const check of of) unit.checks.put(check)
    })
  for (let day = END - DAYS * DAY; day < END - 2 * DAY; day += DAY)
    yield* writeAll(numbers, "day", startOf("day", day))
  for (let hour = END - 2 * DAY; hour < END; hour += HOUR) yield* writeAll(numbers, "hour", hour)
})

const measure = (storage: Storage["Service"], size: () => Promise<string>) =>
  Effect.gen(function* () {
    const { numbers } = storage
    if (numbers === undefined) return
    yield* timed("a quarter", fill(storage, numbers))
    print("disk and rows", yield* Effect.promise(size))
    yield* timed("what a server writes every five minutes", writeAll(numbers, "hour", END - HOUR))
    yield* timed("again", writeAll(numbers, "hour", END - HOUR))
    const check = checks[Math.floor(checks.length / 2)]
    if (check === undefined) return
    const read = (kind: "day" | "hour", days: number, name?: string) =>
      timed(
        `${days} days by ${kind === "day" ? "hours" : "5 minutes"} of ${name ?? `${OF_CHECK} series`}`,
        numbers.parts({ ...check, kinds: [kind], from: startOf(kind, END - days * DAY), to: END, name }),
      )
    for (let round = 0; round < 3; round++) {
      yield* read("hour", 1)
      yield* read("day", 93)
      yield* read("day", 93, "value-3")
    }
    yield* timed("all series", numbers.series())
  })

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** The memory of a server that gathers all series, week after week. */
const measureMemory = () => {
  const gathering = new Gathering(SERIES * 2, (bound) => print("refused", bound))
  const used = () => {
    collect()
    const { arrayBuffers, heapUsed, rss } = process.memoryUsage()
    return { held: heapUsed + arrayBuffers, rss }
  }
  const before = used()
  const refs = checks.map(({ agent_id, check_id, registration_id }) => ({
    agent_id,
    check_id,
    registration_id,
  }))
  for (let at = END - DAYS * DAY, round = 0; at < END; at += DAY / 4, round++) {
    for (const now of [at, at + HOUR]) {
      const received_at = Instant.fromMillis(now)
      for (const { check_id, ...agent } of refs) {
        const output = `OK | ${Array.from({ length: OF_CHECK - 1 }, (_, index) => `value-${index}=${measured()}`).join(" ")}`
        const event = {
          check_id,
          observed_at: received_at,
          output,
          output_truncated: false,
          duration_ms: 12,
          event_id: undefined,
        }
        gathering.take({ ...agent, received_at, events: [event] })
      }
    }
    for (const part of gathering.due(gathering.waiting())) part.settle()
    if (round % 28 === 0) {
      const { held, rss } = used()
      const more = ((held - before.held) / MIB).toFixed(1)
      print(
        `week ${round / 28}`,
        `${gathering.seriesCount} series, ${more} MiB held, ${(rss / MIB).toFixed(0)} MiB resident`,
      )
    }
    gathering.forget(at + 3 * HOUR)
  }
}

const openPostgres = async (url: string) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { layer } = await import("@tocsin/adapter-pg/PgStorage")
  const size = async () => {
    await client.query("VACUUM number_part")
    const { rows } = await client.query<{ text: string }>(
      `SELECT string_agg(format('%s: %s rows, %s MiB, indexes %s MiB', relname, n_live_tup,
        pg_table_size(relid) / 1048576, pg_indexes_size(relid) / 1048576), '; ') AS text
      FROM pg_stat_user_tables WHERE relname LIKE 'number%'`,
    )
    return String(rows[0]?.text)
  }
  return { layer: layer({ url: Redacted.make(url) }), size, close: () => client.end() }
}

const openSqlite = async (file: string) => {
  const { layer } = await import("@tocsin/adapter-sqlite/SqliteStorage")
  const size = () => Promise.resolve(`${(statSync(file).size / MIB).toFixed(0)} MiB`)
  return { layer: layer({ file }), size, close: () => Promise.resolve() }
}

const open = () =>
  values.database === undefined
    ? values.file === undefined
      ? undefined
      : openSqlite(values.file)
    : openPostgres(values.database)

const opened = await open()
if (values.memory) measureMemory()
else if (opened === undefined) process.stdout.write(`${USAGE}\n`)
else {
  const { close, layer, size } = opened
  await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        yield* measure(Context.get(yield* Layer.build(layer), Storage), size)
      }),
    ),
  )
  await close()
}
