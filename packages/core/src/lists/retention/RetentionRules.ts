import type { Instant } from "@tocsin/contract/formats/Instant"
import { forNames, type StoredName, storedTables } from "../StoredTables.ts"
import type { Expiry } from "../../kernel/model/TableShape.ts"

type Shapes = typeof storedTables

type Aging = { [N in StoredName]: Shapes[N] extends { readonly expiry: Expiry } ? N : never }[StoredName]

/** The rules that tables declare: of rows that expire at a moment of their own. */
export type AgedName = Shapes[Aging]["expiry"]["rule"]

const isAging = (name: StoredName): name is Aging => "expiry" in storedTables[name]

type AgedTables = {
  readonly [N in Aging as Shapes[N]["expiry"]["rule"]]: Expiry & { readonly table: N; readonly key: string }
}

/** Whose rows each of these rules removes: their table, its key and the column of their moment. */
export const agedTables = Object.fromEntries(
  (Object.keys(storedTables) as ReadonlyArray<StoredName>).filter(isAging).map((table) => {
    const { expiry, key } = storedTables[table]
    return [expiry.rule, { ...expiry, table, key: key[0] }]
  }),
  // TypeScript does not relate the rules to their tables.
) as unknown as AgedTables

// The object has no other properties.
export const agedNames = Object.keys(agedTables) as ReadonlyArray<AgedName>

/** The facts of a row that each rule needs. `key` names the row: its ID, its number, its registration. */
export interface RetentionFacts extends Readonly<Record<AgedName, { readonly key: string }>> {
  readonly deleted_agents: { readonly key: string }
  readonly history: { readonly key: string; readonly isNewest: boolean }
  readonly outbox: {
    readonly key: string
    readonly created_at: Instant
    readonly updated_at: Instant
    /** Absent if the incident is gone. Held while one of its notifications has not ended. */
    readonly incident:
      | { readonly resolved_at: Instant | undefined; readonly hasUnfinishedNotification: boolean }
      | undefined
  }
  readonly incidents: {
    readonly key: string
    readonly opened_at: Instant
    readonly resolved_at: Instant | undefined
    /** Whether one of its notifications has not ended, or another transaction locks it. */
    readonly hasUnfinishedNotification: boolean
  }
}

/** The rules, in the order in which they run. */
export type RetentionName = keyof RetentionFacts

/** Those that no expiry of their own table removes. */
const furtherRows = {
  checks_of_agents: { table: "check_state", by: "registration_id" },
  labels_of_agents: { table: "check_label", by: "registration_id" },
  expectations_of_agents: { table: "expectation", by: "registration_id" },
  runs_of_agents: { table: "job_run", by: "registration_id" },
  alerts_of_agents: { table: "reported_alert", by: "registration_id" },
  mails_of_agents: { table: "mailed_check", by: "registration_id" },
  results_of_agents: { table: "check_event", by: "registration_id" },
  agents: { table: "removed_registration", by: "registration_id" },
  results: { table: "check_event", by: "seq" },
  notifications: { table: "outbox", by: "id" },
  members: { table: "incident_member", by: "incident_id" },
  changes: { table: "incident_change", by: "incident_id" },
  log: { table: "incident_log", by: "incident_id" },
  alerts: { table: "alert", by: "incident_id" },
  incidents: { table: "incident", by: "id" },
  audit_subjects: { table: "audit_subject", by: "audit_id" },
} as const satisfies Readonly<Record<string, Removed>>

interface Removed {
  readonly table: StoredName
  readonly by: string
}

/** Rows of one table that are removed together with an expired row: those whose column has its key. */
export const removedRows = {
  ...furtherRows,
  ...forNames<AgedName, { readonly [Rule in AgedName]: Removed & Pick<AgedTables[Rule], "table"> }>(
    agedNames,
    (rule) => ({ table: agedTables[rule].table, by: agedTables[rule].key }),
  ),
}
export type RemovedRows = keyof typeof removedRows

export const removedNames = Object.keys(removedRows) as ReadonlyArray<RemovedRows>

/** The verdict on a row. `too_young` means that all rows after it are too young. */
export type Verdict = "expired" | "stays" | "too_young"

/** One rule: what expires, when, and in which order it is removed. Code, tests and docs read the same rules. */
export interface RetentionRule<Name extends RetentionName> {
  readonly subject: string
  readonly expires: string
  /** The reason to keep it longer. */
  readonly stays: string
  /** The order of removal: referring rows first. */
  readonly removes: ReadonlyArray<RemovedRows>
  /** Whether rows that stay are set aside, so that no later piece reads them again. */
  readonly setsAside: boolean
  readonly judge: (row: RetentionFacts[Name], before: Instant) => Verdict
}

const judgeOutbox = (row: RetentionFacts["outbox"], before: Instant): Verdict => {
  if (row.created_at >= before) return "too_young"
  if (row.updated_at >= before) return "stays"
  if (row.incident === undefined) return "expired"
  const { resolved_at, hasUnfinishedNotification } = row.incident
  return !hasUnfinishedNotification && resolved_at !== undefined && resolved_at < before ? "expired" : "stays"
}

const judgeIncident = (row: RetentionFacts["incidents"], before: Instant): Verdict => {
  if (row.opened_at >= before) return "too_young"
  const isOld = row.resolved_at !== undefined && row.resolved_at < before
  return isOld && !row.hasUnfinishedNotification ? "expired" : "stays"
}

const whenFound = (subject: string, expires: string, removes: ReadonlyArray<RemovedRows>) => ({
  subject,
  expires,
  stays: "nothing",
  removes,
  setsAside: false,
  judge: (): Verdict => "expired",
})

const aged = forNames<AgedName, { readonly [Rule in AgedName]: RetentionRule<Rule> }>(agedNames, (rule) => {
  const { expires, subject } = agedTables[rule]
  return whenFound(subject, expires, rule === "audit" ? ["audit_subjects", rule] : [rule])
})

/**
 * All rules but those of pending agents (`heart/admission/removeAgent.ts`) and numbers. Notifications go before
 * incidents, because their rule needs the incident.
 */
export const RetentionRules: { readonly [Name in RetentionName]: RetentionRule<Name> } = {
  deleted_agents: whenFound("checks, expectations and results of a deleted agent", "immediately", [
    "checks_of_agents",
    "labels_of_agents",
    "expectations_of_agents",
    "runs_of_agents",
    "alerts_of_agents",
    "mails_of_agents",
    "results_of_agents",
    "agents",
  ]),
  history: {
    subject: "a result",
    expires: "received before the bound",
    stays: "the newest result of its check",
    removes: ["results"],
    setsAside: true,
    judge: ({ isNewest }) => (isNewest ? "stays" : "expired"),
  },
  outbox: {
    subject: "a notification that was sent, failed or was discarded",
    expires: "updated, and its incident resolved, before the bound; without an incident, in any state",
    stays:
      "every notification of an incident that is open, or of which one has not ended: they state who was notified of what",
    removes: ["notifications"],
    setsAside: false,
    judge: judgeOutbox,
  },
  incidents: {
    subject: "a resolved incident",
    expires: "resolved before the bound",
    stays: "an incident with a notification that is pending, sending or to be retried",
    removes: ["members", "changes", "log", "alerts", "incidents"],
    setsAside: false,
    judge: judgeIncident,
  },
  ...aged,
}
