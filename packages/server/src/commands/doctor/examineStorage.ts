import { existsSync } from "node:fs"
import { dirname } from "node:path"
import * as PgInspection from "@tocsin/adapter-pg/inspection/inspectStorage"
import { ownedByOthers } from "@tocsin/adapter-pg/migrations/migrate"
import { PROCESS_CONNECTIONS } from "@tocsin/adapter-pg/PgStorage"
import * as SqliteInspection from "@tocsin/adapter-sqlite/inspection/inspectStorage"
import * as Instant from "@tocsin/contract/Instant"
import { sizeText } from "@tocsin/contract/numberText"
import { MOST_OF_CHECK, type ReachedBounds } from "@tocsin/core/numbers/NumberBounds"
import { Integrations } from "@tocsin/core/usecases/Integrations"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Duration, Effect, type Redacted } from "effect"
import { countText } from "../../output/texts.ts"
import { connectionAdvice } from "../../storage.ts"
import { type Asked, examineUse, type Use } from "./examineUse.ts"
import { attention, failed, type Finding, type Findings, ok, orFailed } from "./Finding.ts"

interface Content extends Use {
  /** How many migrations it went through; none if it is new. */
  readonly applied: number
  readonly known: number
  /** Stored values that cannot be read. */
  readonly damaged: ReadonlyArray<string>
  /** Running totals that are not what the rows count. */
  readonly wrongTotals: ReadonlyArray<string>
}

/** The schema, servers and pepper of a storage. */
const examineSchema = (
  { applied, damaged, known, wrongTotals, ...used }: Content,
  asked: Asked,
): Findings => {
  if (applied === 0) {
    return [attention("schema", "no Tocsin data yet: start the server, or run tocsin migrate")]
  }
  const schema =
    applied < known
      ? attention(
          "schema",
          `at ${applied} of ${known}: start the server to upgrade it, or run tocsin migrate`,
        )
      : ok("schema", `at ${applied} of ${known}, which is current`)
  const rows =
    damaged.length === 0
      ? ok("rows", "every stored list and object can be read")
      : attention(
          "rows",
          `no valid JSON, so read as empty: ${damaged.join(", ")}; correct or delete these rows`,
        )
  const totals =
    wrongTotals.length === 0
      ? ok("totals", "the summary's totals are those of the rows")
      : attention(
          "totals",
          `the summary is wrong: ${wrongTotals.join(", ")}; on PostgreSQL run SELECT recount_system_total(), on SQLite tocsin copy`,
        )
  return [schema, rows, totals, ...examineUse(used, asked)]
}

const OLDEST_MAJOR = 15
/** People notice it when two systems show times. */
const NOTABLE_OFFSET = Duration.seconds(1)

/** Whether PostgreSQL is reachable, writable and durable; its schema, its connections and its clock. */
export const examinePostgres = Effect.fnUntraced(function* (url: Redacted.Redacted, pepperCheck: string) {
  const now = yield* Instant.now
  const examined = Effect.map(PgInspection.inspectStorage({ url }), (found): Findings => [
    serverFinding(found),
    permissionFinding(found),
    ...limitFindings(found),
    ...(found.schema === "newer" || found.schema === "foreign"
      ? [failed("schema", SCHEMA_ADVICE[found.schema], "storage")]
      : examineSchema(found, { now: Instant.plus(now, found.clockOffset), pepperCheck })),
    safetyFinding(found),
    connectionFinding(found),
    clockFinding(found),
  ])
  return yield* orFailed("storage", examined)
})

const SCHEMA_ADVICE = {
  newer: "written by a newer version of Tocsin: start that version or a later one",
  foreign:
    "created by another build of Tocsin or another program: correct DATABASE_URL, or start the build that created it",
} as const

const serverFinding = ({ serverVersion, bytes }: PgInspection.PgInspection): Finding => {
  const text = `PostgreSQL ${serverVersion} answers; the database occupies ${sizeText(Number(bytes))}`
  return Number.parseInt(serverVersion, 10) < OLDEST_MAJOR
    ? failed("storage", `${text}: upgrade it to ${OLDEST_MAJOR} or later`, "storage")
    : ok("storage", text)
}

const permissionFinding = ({
  isReadOnly,
  mayCreate,
  closedTables,
  foreignTables,
}: PgInspection.PgInspection): Finding => {
  const check = "permissions"
  if (isReadOnly) {
    return failed(
      check,
      "the database is read-only: point DATABASE_URL at the primary, or allow writes (default_transaction_read_only)",
      "storage",
    )
  }
  if (closedTables.length > 0) {
    const names = closedTables.join(", ")
    return failed(
      check,
      `the user cannot read and write ${names}: make it the owner of these tables`,
      "storage",
    )
  }
  if (foreignTables.length > 0) {
    const { message } = ownedByOthers(foreignTables)
    return attention(check, message)
  }
  return mayCreate
    ? ok(check, "tables can be written and created")
    : attention(
        check,
        "the user cannot create tables, which the next migration needs: grant it CREATE on the schema",
      )
}

const limitFindings = ({ hasty }: PgInspection.PgInspection): Findings =>
  hasty.map((limit) =>
    attention(
      "limits",
      `${limit} can end Tocsin's transactions: give its user at least 10s (ALTER ROLE … SET)`,
    ),
  )

const safetyFinding = ({ unsafe }: PgInspection.PgInspection): Finding =>
  unsafe.length === 0
    ? ok("durability", "committed data survives a crash")
    : attention("durability", `${unsafe.join(", ")} off: a crash can lose acknowledged data; turn it on`)

const connectionFinding = ({ connectionLimit }: PgInspection.PgInspection): Finding => {
  const message = connectionAdvice(connectionLimit)
  return message === undefined
    ? ok("connections", `this server opens up to ${PROCESS_CONNECTIONS} of ${connectionLimit}`)
    : attention("connections", message)
}

const clockFinding = ({ clockOffset }: PgInspection.PgInspection): Finding => {
  const millis = Duration.toMillis(clockOffset)
  const text = `this machine's clock and the database's differ by ${Math.abs(millis).toFixed(0)} ms`
  return Math.abs(millis) > Duration.toMillis(NOTABLE_OFFSET)
    ? attention("clock", `${text}; Tocsin uses the database's: synchronize both with NTP`)
    : ok("clock", text)
}

/** Integrations that soon refuse new checks. */
export const examineIntegrations = Integrations.use(({ nearlyFull }) => nearlyFull).pipe(
  Effect.map((all) =>
    all.map(({ checks, max_checks, name }) =>
      attention(
        `integration ${name}`,
        `it has ${countText(checks)} of ${countText(max_checks)} checks, and refuses new ones beyond: delete checks, shorten forget_after, or add an integration`,
      ),
    ),
  ),
)

/** The bounds of numbers that are reached, where `most` series are kept in all. */
export const numberFindings = ({ agents, all, checks }: ReachedBounds, most: number): Findings =>
  [
    ...(all
      ? [
          attention(
            "numbers",
            `there are ${countText(most)} series, and further ones are not kept: raise SERVICE_NUMBERS_SERIES`,
          ),
        ]
      : []),
    ...agents.map((agent) =>
      attention(
        `numbers of ${agent}`,
        "it has a tenth of all series, and further ones are not kept: raise SERVICE_NUMBERS_SERIES",
      ),
    ),
    ...checks.map(([agent, check]) =>
      attention(
        `numbers of ${agent}/${check}`,
        `it has ${MOST_OF_CHECK} series, and further ones are not kept: use a plugin that states fewer`,
      ),
    ),
  ].slice(0, MOST_NUMBER_NOTES)

/** Whether further series of numbers would not be kept; `most` of 0 keeps none. */
export const examineNumbers = (most: number) =>
  most === 0
    ? Effect.succeed<Findings>([])
    : Effect.map(
        Queries.use(({ numbers }) => numbers.reachedBounds(most)),
        (reached) => numberFindings(reached, most),
      )

/** One plugin may run on many hosts. */
const MOST_NUMBER_NOTES = 5

/** Below these, a busy day of results, or one checkpoint of the log, may not fit. */
const SPACE_TO_NOTE_BYTES = 1_073_741_824
const SPACE_TO_FAIL_BYTES = 67_108_864
/** Beyond it, the disk limits the rate of requests. */
const SLOW_SYNC = Duration.millis(20)

/** The embedded database: its file, its schema, and its disk. */
export const examineSqlite = Effect.fnUntraced(function* (file: string, pepperCheck: string) {
  const folder = dirname(file)
  if (!existsSync(folder)) {
    return [
      attention(
        "storage",
        `${folder} does not exist yet: start the server to create it, or set SERVICE_DATA_DIR`,
      ),
    ]
  }
  const now = yield* Instant.now
  const database = Effect.map(
    SqliteInspection.inspectStorage(file),
    ({ applied = 0, bytes, ...content }): Findings => [
      ok("storage", applied === 0 ? `${file} can be created` : `${file} can be opened, ${sizeText(bytes)}`),
      ...examineSchema({ ...content, applied }, { now, pepperCheck }),
    ],
  )
  const disk = Effect.map(SqliteInspection.inspectDisk(folder), (found) => diskFindings(found, folder))
  return [...(yield* orFailed("storage", database)), ...(yield* orFailed("disk", disk))]
})

const diskFindings = (
  { freeBytes, syncTime, kind }: SqliteInspection.DiskInspection,
  folder: string,
): Findings => {
  const free = `${sizeText(freeBytes)} free in ${folder}`
  const space =
    freeBytes < SPACE_TO_FAIL_BYTES
      ? failed("disk space", `${free}: free some space now, or writes will fail`, "storage")
      : freeBytes < SPACE_TO_NOTE_BYTES
        ? attention("disk space", `${free}: free some space, or shorten the retention (SERVICE_RETENTION_…)`)
        : ok("disk space", free)
  const time = `a commit reaches the disk in ${Duration.toMillis(syncTime).toFixed(2)} ms`
  const sync = Duration.isGreaterThan(syncTime, SLOW_SYNC)
    ? attention("disk sync", `${time}, which delays every answer: use a faster disk, or PostgreSQL`)
    : ok("disk sync", time)
  return [space, sync, ...(kind === "local" ? [] : [attention("disk", DISK_ADVICE[kind])])]
}

const DISK_ADVICE = {
  network: "the folder is on a network file system, where SQLite's locks are not safe: use a local disk",
  memory: "the folder is in memory and is lost when this machine restarts: use a disk",
} as const
