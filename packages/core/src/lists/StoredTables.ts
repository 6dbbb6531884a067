import { agent, agent_key, type AgentKeyRecord, type BlockedKeyRecord } from "../heart/model/AgentRecord.ts"
import { removed_registration } from "../heart/model/RemovedRegistrationRecord.ts"
import { announcement } from "../features/publicPages/AnnouncementRecord.ts"
import { audit, audit_subject } from "../heart/model/AuditRecord.ts"
import { OF_CHECK } from "../kernel/model/CheckRef.ts"
import { change_stamp } from "../kernel/model/ChangeStampRecord.ts"
import { check_label } from "../heart/model/CheckLabelRecord.ts"
import { check_event, check_state, type StoredHistoryRecord } from "../heart/model/CheckRecord.ts"
import { enrolment } from "../heart/model/EnrolmentRecord.ts"
import { expectation } from "../heart/model/ExpectationRecord.ts"
import { idempotency_key } from "../kernel/model/IdempotencyKeyRecord.ts"
import { listed_check } from "../heart/model/ListedCheckRecord.ts"
import { incident, incident_change, incident_log } from "../heart/model/IncidentRecord.ts"
import { integration } from "../features/integrations/IntegrationRecord.ts"
import { incident_member } from "../heart/model/MemberRecord.ts"
import { kept_mail } from "../features/integrations/mail/KeptMailRecord.ts"
import { mailed_check } from "../features/integrations/mail/MailedCheckRecord.ts"
import { job_run } from "../features/integrations/JobRunRecord.ts"
import { place } from "../heart/model/PlaceRecord.ts"
import { number_part, number_series } from "../features/numbers/numberTables.ts"
import { operator } from "../heart/model/OperatorRecord.ts"
import { alert, outbox } from "../heart/model/OutboxRecord.ts"
import { push_key, push_subscription } from "../heart/model/SubscriptionRecord.ts"
import { flood_minute } from "../heart/model/FloodMinuteRecord.ts"
import { phone_call } from "../heart/model/PhoneCallRecord.ts"
import { policy_version } from "../heart/model/PolicyVersionRecord.ts"
import { setting } from "../features/settings/SettingRecord.ts"
import { receiver_secrets } from "../features/receivers/ReceiverSecretsRecord.ts"
import { monthly_report } from "../features/report/MonthlyReportRecord.ts"
import { replica } from "../heart/model/ReplicaRecord.ts"
import { reported_alert } from "../features/integrations/ReportedAlertRecord.ts"
import { rota_override } from "../heart/model/RotaOverrideRecord.ts"
import { invitation } from "../features/signIn/InvitationRecord.ts"
import { identity_name, session } from "../features/signIn/SessionRecord.ts"
import { service_heartbeat } from "../kernel/model/ServiceHeartbeatRecord.ts"
import { silence } from "../heart/model/SilenceRecord.ts"
import {
  type Announcing,
  type AnyShape,
  type Finding,
  type KeyedShape,
  type Locking,
  storedTable,
  type TableShape,
  text,
} from "../kernel/model/TableShape.ts"
import { watch } from "../features/watches/WatchRecord.ts"

/** The rows of lists of which the columns do not say all. */
export interface Variants {
  readonly blacklist: BlockedKeyRecord
  readonly history: StoredHistoryRecord
}

/** Names of the values that a storage keeps for good from its first start on. */
export type EstablishedName = "pepper_check"

/** A value that the first writer sets for good. */
const established = storedTable({
  name: "established",
  key: ["name"],
  columns: { name: text<EstablishedName>(), value: text() },
})

/**
 * The registry of all tables: those that others refer to first, and in the order in which transactions lock
 * and write rows. Further columns are generated or kept by the storage for itself.
 */
export const storedTables = {
  established,
  agent,
  agent_key,
  check_state,
  check_label,
  expectation,
  listed_check,
  place,
  job_run,
  reported_alert,
  mailed_check,
  check_event,
  incident,
  incident_member,
  incident_change,
  incident_log,
  outbox,
  alert,
  operator,
  session,
  invitation,
  identity_name,
  integration,
  kept_mail,
  enrolment,
  watch,
  idempotency_key,
  phone_call,
  flood_minute,
  monthly_report,
  push_key,
  push_subscription,
  replica,
  policy_version,
  receiver_secrets,
  setting,
  audit,
  audit_subject,
  silence,
  rota_override,
  announcement,
  service_heartbeat,
  change_stamp,
  removed_registration,
}

export type StoredName = keyof typeof storedTables

/** The tables of numbers over time, which no command loads. */
export const numberTables: ReadonlyArray<AnyShape> = [number_series, number_part]

/** All tables in the order in which they are copied. */
export const copiedTables: ReadonlyArray<AnyShape> = [...Object.values(storedTables), ...numberTables]

/** Every first start fills these. A storage with no other rows is empty, and a copy overwrites them. */
export const filledByStarts: ReadonlySet<string> = new Set(
  [established, service_heartbeat, replica].map(({ name }) => name),
)

type Shapes = typeof storedTables

/** The tables whose rows commands request by key or by group: see {@link KeyedShape}. */
export type KeyedName = {
  [N in keyof Shapes]: Shapes[N] extends { readonly locks: Locking } ? N : never
}[keyof Shapes]

type Columns = ReadonlyArray<string>
/** A value for one column, an object for several. */
type Named<Row, Names extends Columns> = Names extends readonly [infer Name extends keyof Row]
  ? Row[Name]
  : Pick<Row, Names[number] & keyof Row>

export type KeyedRows = {
  [N in KeyedName]: N extends "agent_key"
    ? AgentKeyRecord
    : Shapes[N] extends KeyedShape<infer Row, infer _, infer __>
      ? Row
      : never
}
export type Keys = {
  [N in KeyedName]: Shapes[N] extends KeyedShape<infer Row, infer Key, infer _> ? Named<Row, Key> : never
}
/** The name of a group of each table: `all` where all rows are one group. */
export type Groups = {
  [N in KeyedName]: Shapes[N] extends KeyedShape<infer Row, infer _, infer Group>
    ? Group extends readonly []
      ? "all"
      : Named<Row, Group>
    : never
}

export const isKeyed = (name: keyof Shapes): name is KeyedName => "locks" in storedTables[name]

/** In the order in which transactions lock their rows. */
export const keyedNames = (Object.keys(storedTables) as ReadonlyArray<keyof Shapes>).filter(isKeyed)

/** The tables of rows that a check may have beside its own. */
export const namesOfChecks: ReadonlyArray<KeyedName> = keyedNames.filter((name) => {
  const { key }: AnyShape = storedTables[name]
  return key === OF_CHECK.key
})

/** The tables whose rows are evaluated once their `next_evaluation_at` has come, by the key of a check. */
export type EvaluatedName = {
  [N in KeyedName]: Shapes[N] extends {
    readonly columns: { readonly check_id: unknown; readonly next_evaluation_at: unknown }
  }
    ? N
    : never
}[KeyedName]
export const evaluatedNames = keyedNames.filter((name): name is EvaluatedName => {
  const { columns }: AnyShape = storedTables[name]
  return "check_id" in columns && "next_evaluation_at" in columns
})

/** The tables whose rows begin and end at stated moments. */
type PlannedName = { [N in KeyedName]: "starts_at" extends keyof KeyedRows[N] ? N : never }[KeyedName]
export const plannedNames = keyedNames.filter((name): name is PlannedName => {
  const { columns }: AnyShape = storedTables[name]
  return "starts_at" in columns
})

/** The tables whose rows that have not ended are limited in number. An absent `ends_at` has not come. */
export type CountedName = {
  [N in KeyedName]: Shapes[N] extends { readonly unended: string } ? N : never
}[KeyedName]
export const countedNames = keyedNames.filter((name): name is CountedName => {
  const { unended }: AnyShape = storedTables[name]
  return unended !== undefined
})
/** The column of their ends that is never empty, so that an index finds those to come. */
export const endColumn = (name: CountedName): string => storedTables[name].unended

type KeyedOptions<N extends KeyedName> = Announcing<KeyedRows[N]> & Finding<Keys[N], KeyedRows[N]>

export const keyedShape = <N extends KeyedName>(name: N) =>
  // TypeScript does not relate the declaration to its own row.
  storedTables[name] as unknown as KeyedOptions<N> & TableShape<KeyedRows[N]> & AnyShape

/** A value for each name; `make` must return the one of the given name. */
export const forNames = <N extends string, Made extends { readonly [Name in N]: unknown }>(
  names: ReadonlyArray<N>,
  make: <Name extends N>(name: Name) => unknown,
): Made =>
  // TypeScript cannot relate values to names.
  Object.fromEntries(names.map((name) => [name, make(name)])) as Made

/** Slashes join names, since no column of a key contains one. */
const nameBy = (columns: Columns, named: unknown): string => {
  if (typeof named !== "object") return String(named)
  let name = ""
  for (const column of columns) {
    const part = String((named as Readonly<Record<string, unknown>>)[column])
    name = name === "" ? part : `${name}/${part}`
  }
  return name
}

/** The key of a row or of a request, as one text. */
export const keyText = <N extends KeyedName>(name: N, key: Keys[N] | KeyedRows[N]): string =>
  nameBy(keyedShape(name).key, key)

/** A group of a table, as one text. */
export const groupText = <N extends KeyedName>(name: N, group: Groups[N] | KeyedRows[N]): string =>
  nameBy(keyedShape(name).group ?? [], group) || "all"

export const keyOf = <N extends KeyedName>(name: N, row: KeyedRows[N]): Keys[N] => {
  const { key } = keyedShape(name)
  // The columns are those of the key; a row has them all.
  return (key.length > 1 ? row : row[key[0] as keyof KeyedRows[N]]) as unknown as Keys[N]
}

/** Each running total that a database keeps in `system_total`, and the SQL that counts it. */
const TOTALS = {
  agents_accepted: "count(*) FROM agent WHERE admission_state = 'accepted'",
  agents_pending: "count(*) FROM agent WHERE admission_state = 'pending'",
  agents_dead: "count(*) FROM agent WHERE admission_state = 'accepted' AND heartbeat_incident_id IS NOT NULL",
  checks_ok: "coalesce(sum(checks_ok), 0) FROM agent",
  checks_warning: "coalesce(sum(checks_warning), 0) FROM agent",
  checks_critical: "coalesce(sum(checks_critical), 0) FROM agent",
  checks_unknown: "coalesce(sum(checks_unknown), 0) FROM agent",
  incidents_open: "count(*) FROM incident WHERE state = 'open'",
}

/**
 * Finds, in one look, the totals that are not what the rows count, each with both numbers. A writer
 * without triggers leaves such totals.
 */
export const FIND_WRONG_TOTALS = `SELECT name || ' is ' || kept || ' instead of ' || counted AS wrong FROM (${Object.entries(
  TOTALS,
)
  .map(
    ([name, counted]) =>
      `SELECT '${name}' AS name, (SELECT coalesce(sum(${name}), 0) FROM system_total) AS kept, (SELECT ${counted}) AS counted`,
  )
  .join(" UNION ALL ")}) AS total WHERE kept <> counted`
