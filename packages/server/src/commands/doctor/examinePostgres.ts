// Loaded by the doctor of a server on PostgreSQL: others do without the driver.
import { inspectSessions, type SessionInspection } from "@tocsin/adapter-pg/inspection/inspectSessions"
import * as PgInspection from "@tocsin/adapter-pg/inspection/inspectStorage"
import { ownedByOthers } from "@tocsin/adapter-pg/migrations/migrate"
import { PROCESS_CONNECTIONS } from "@tocsin/adapter-pg/PgStorage"
import * as Instant from "@tocsin/contract/formats/Instant"
import { sizeText } from "@tocsin/contract/formats/numberText"
import { Duration, Effect, type Redacted } from "effect"
import { connectionAdvice } from "../../connections.ts"
import { examineSchema } from "./examineStorage.ts"
import { attention, failed, type Finding, type Findings, ok, okUnless, orFailed } from "./Finding.ts"

/** People notice it when two systems show times. */
const NOTABLE_OFFSET = Duration.seconds(1)

/** Whether PostgreSQL is reachable, writable and durable; its schema, its connections and its clock. */
export const examinePostgres = Effect.fnUntraced(function* (url: Redacted.Redacted, pepperCheck: string) {
  const now = yield* Instant.now
  const examined = Effect.gen(function* () {
    const found = yield* PgInspection.inspectStorage({ url })
    const sessions = found.isReadOnly ? NO_SESSIONS : yield* inspectSessions({ url })
    return [
      serverFinding(found),
      ...balancerFindings(sessions),
      permissionFinding(found),
      ...limitFindings(found, sessions),
      ...(found.schema === "newer" || found.schema === "foreign"
        ? [failed("schema", SCHEMA_ADVICE[found.schema], "storage")]
        : examineSchema(found, { now: Instant.plus(now, found.clockOffset), pepperCheck })),
      ...sequenceFindings(found),
      safetyFinding(found, sessions),
      connectionFinding(found),
      clockFinding(found),
    ]
  })
  return yield* orFailed("storage", examined)
})

/** A database that takes no writes is refused as such. */
const NO_SESSIONS: SessionInspection = { servers: 1, isExchanged: false, commitWaitsFor: undefined }

const SCHEMA_ADVICE = {
  newer: "written by a newer version of Tocsin: start that version or a later one",
  foreign:
    "created by another build of Tocsin or another program: correct DATABASE_URL, or start the build that created it",
} as const

const serverFinding = ({ serverVersion, bytes }: PgInspection.PgInspection): Finding =>
  ok("storage", `PostgreSQL ${serverVersion} answers; the database occupies ${sizeText(Number(bytes))}`)

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
    const remedy = "make it the owner of these tables"
    return failed(check, `the user cannot read and write ${names}: ${remedy}`, "storage")
  }
  if (foreignTables.length > 0) {
    const { message } = ownedByOthers(foreignTables)
    return attention(check, message)
  }
  return okUnless(
    !mayCreate,
    check,
    "tables can be written and created",
    "the user cannot create tables, which the next migration needs: grant it CREATE on the schema",
  )
}

/** Each session of Tocsin sets its own limits, which last where no pooler exchanges sessions. */
const limitFindings = ({ hasty }: PgInspection.PgInspection, { isExchanged }: SessionInspection): Findings =>
  isExchanged
    ? hasty.map((limit) =>
        attention(
          "limits",
          `${limit} can end Tocsin's transactions, since a pooler exchanges their sessions: give its user at least 10s (ALTER ROLE … SET)`,
        ),
      )
    : []

/** Nothing fails: pages are older than what was acknowledged, and new agents are unknown. */
const balancerFindings = ({ servers }: SessionInspection): Findings =>
  servers < 2
    ? []
    : [
        failed(
          "balancer",
          `${servers} servers answer what only reads: a pooler sends reads to standbys, which are behind: set load_balance_mode = off in pgpool-II, or name the servers in DATABASE_URL without it`,
          "storage",
        ),
      ]

/** Where nothing fails, newer results are listed as the older ones. */
const sequenceFindings = ({ behind }: PgInspection.PgInspection): Findings =>
  behind.map((table) =>
    failed(
      "sequences",
      `the sequence of ${table} is behind its rows, as after an upgrade by logical replication: run tocsin migrate, which sets it right`,
      "storage",
    ),
  )

const safetyFinding = (
  { unsafe }: PgInspection.PgInspection,
  { commitWaitsFor: waits }: SessionInspection,
): Finding => {
  if (waits === "SyncRep")
    return failed(
      "durability",
      "no commit ends: a synchronous standby does not answer. Repair it, or take it out of synchronous_standby_names",
      "storage",
    )
  if (waits !== undefined)
    return failed(
      "durability",
      `a commit did not end within 5 s, and waits for ${waits}: check PostgreSQL's disk and load`,
      "storage",
    )
  const found = `${unsafe.join(", ")} off: a crash can lose acknowledged data; turn it on`
  return okUnless(unsafe.length > 0, "durability", "committed data survives a crash", found)
}

const connectionFinding = ({ connectionLimit }: PgInspection.PgInspection): Finding => {
  const message = connectionAdvice(connectionLimit)
  return message === undefined
    ? ok("connections", `this server opens up to ${PROCESS_CONNECTIONS} of ${connectionLimit}`)
    : attention("connections", message)
}

const clockFinding = ({ clockOffset }: PgInspection.PgInspection): Finding => {
  const millis = Duration.toMillis(clockOffset)
  const text = `this machine's clock and the database's differ by ${Math.abs(millis).toFixed(0)} ms`
  const remedy = "Tocsin uses the database's: synchronize both with NTP"
  return okUnless(Math.abs(millis) > Duration.toMillis(NOTABLE_OFFSET), "clock", text, `${text}; ${remedy}`)
}
