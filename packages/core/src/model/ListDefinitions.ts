import type { AgentRecord, BlockedKeyRecord } from "./AgentRecord.ts"
import type { AnnouncementRecord, AnnouncementState } from "./AnnouncementRecord.ts"
import type { AuditRecord } from "./AuditRecord.ts"
import type { CheckRecord, StoredHistoryRecord } from "./CheckRecord.ts"
import type { AuditActionName } from "@tocsin/contract/AuditActions"
import type { AgentId, CheckId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type {
  IncidentState,
  ListedStatus,
  NotificationType,
  NotifierKind,
  OutboxState,
  Severity,
} from "@tocsin/contract/Status"
import type { ExpectationRecord } from "./ExpectationRecord.ts"
import type { IncidentRecord } from "./IncidentRecord.ts"
import type { SecretRecord } from "./SecretRecord.ts"
import { SEVERITY_RANK } from "./MemberRecord.ts"
import type { OutboxRecord } from "./OutboxRecord.ts"
import type { SilenceRecord, SilenceState } from "./SilenceRecord.ts"
import type { EnrolmentRecord } from "./EnrolmentRecord.ts"
import type { IntegrationRecord } from "./IntegrationRecord.ts"
import type { OperatorRecord } from "./OperatorRecord.ts"
import type { SessionRecord } from "./SessionRecord.ts"
import { type StoredName, storedTables } from "./StoredTables.ts"
import type { TableShape } from "./TableShape.ts"
import type { WatchRecord } from "./WatchRecord.ts"

/** A value that rows are ordered by. Text is compared bytewise; instants and ranks are numbers. */
export type SortValue = string | number | bigint

/** The table that has the rows of each list. */
export const listTables = {
  agents: "agent",
  checks: "check_state",
  overdue: "expectation",
  history: "check_event",
  incidents: "incident",
  outbox: "outbox",
  blacklist: "agent_key",
  operators: "operator",
  sessions: "session",
  integrations: "integration",
  enrolments: "enrolment",
  watches: "watch",
  audit: "audit",
  silences: "silence",
  announcements: "announcement",
  secrets: "receiver_secrets",
} as const satisfies Record<string, StoredName>

export type ListName = keyof typeof listTables

// An object has its own names.
export const listNames = Object.keys(listTables) as ReadonlyArray<ListName>

type RowOf<Shape> = Shape extends TableShape<infer Row> ? Row : never

export type ListRows = {
  readonly [L in ListName]: L extends "blacklist"
    ? BlockedKeyRecord
    : RowOf<(typeof storedTables)[(typeof listTables)[L]]>
}

/** The shape of the rows of a list. Blocked keys, of which the blacklist consists, have all columns of keys. */
export const listShape = <L extends ListName>(list: L) =>
  // TypeScript does not relate the declaration to the rows of the list.
  storedTables[listTables[list]] as unknown as TableShape<ListRows[L]>

/** The lists that can be filtered, and by what; absent fields do not filter. */
interface Filters {
  readonly checks: {
    readonly agent_id?: AgentId | undefined
    readonly status?: ListedStatus | undefined
    /** Words that are all found in the check's names or its summary (docs/rules.md#lists). */
    readonly search?: string | undefined
  }
  /** A check that never reported has no status, which is not ok, and no summary. */
  readonly overdue: Filters["checks"]
  readonly history: { readonly agent_id?: AgentId | undefined; readonly check_id?: CheckId | undefined }
  readonly incidents: {
    readonly state?: IncidentState | undefined
    readonly severity?: Severity | undefined
    /** Finds incidents in which this check is or was a member; one member must match both IDs. */
    readonly agent_id?: AgentId | undefined
    readonly check_id?: CheckId | undefined
    /** Whether there is an acknowledgement, in force at a moment if one is given. */
    readonly acknowledged?: boolean | undefined
    readonly at?: Instant | undefined
    /** The first moment, and the one after the last, of the order, which is then by `opened_at` or `resolved_at`. */
    readonly from?: Instant | undefined
    readonly to?: Instant | undefined
  }
  readonly outbox: {
    readonly state?: OutboxState | undefined
    readonly notifier?: NotifierKind | undefined
    readonly event_type?: NotificationType | undefined
    /** Whether a hold was found on it when it was last examined. */
    readonly held?: boolean | undefined
  }
  readonly audit: {
    readonly actor?: string | undefined
    readonly action?: AuditActionName | undefined
    /** The ID of a subject, of any kind. */
    readonly subject?: string | undefined
    /** The first moment, and the one after the last: a row lies in between. */
    readonly from?: Instant | undefined
    readonly to?: Instant | undefined
  }
  readonly silences: {
    readonly state?: SilenceState | undefined
    /** The moment of which `state` speaks. */
    readonly at?: Instant | undefined
  }
  readonly announcements: {
    readonly page?: string | undefined
    readonly state?: AnnouncementState | undefined
    /** The moment of which `state` speaks. */
    readonly at?: Instant | undefined
  }
}

export type ListFilters = {
  readonly [L in ListName]: L extends keyof Filters ? Filters[L] : Record<never, never>
}

/** One column of an order: its name in every storage, its type, and its value in a row. */
export interface SortColumn<Row> {
  readonly name: string
  readonly type: "text" | "number" | "bigint"
  readonly of: (row: Row) => SortValue
}

/** Stands for an absent `resolved_at` or `ends_at`: later than every instant (docs/rules.md#lists). */
export const NEVER = 9_223_372_036_854_775_807n

type FieldsOf<Row, Value> = { [N in keyof Row]: Row[N] extends Value ? N : never }[keyof Row] & string

// FieldsOf names fields of such values.
const text = <Row>(name: FieldsOf<Row, string>): SortColumn<Row> => ({
  name,
  type: "text",
  of: (row) => row[name] as string,
})
const number = <Row>(name: string, of: (row: Row) => number): SortColumn<Row> => ({
  name,
  type: "number",
  of,
})
const instant = <Row>(name: FieldsOf<Row, bigint>): SortColumn<Row> => ({
  name,
  type: "bigint",
  of: (row) => row[name] as bigint,
})

const stateRank = (state: IncidentState): number => (state === "open" ? 1 : 0)

const incidentId = text<IncidentRecord>("id")
const incidentOpenedAt = instant<IncidentRecord>("opened_at")
const outboxId = text<OutboxRecord>("id")

/**
 * The orders of every list (docs/rules.md#lists). All columns of an order run in one direction, and
 * the last one makes it total. Ranks: open above resolved, critical above unknown above warning.
 */
export const ListOrders = {
  agents: { agent_id: [text<AgentRecord>("agent_id")] },
  checks: {
    agent_id: [text<CheckRecord>("agent_id"), text<CheckRecord>("check_id")],
  },
  overdue: {
    agent_id: [text<ExpectationRecord>("agent_id"), text<ExpectationRecord>("check_id")],
  },
  history: { stored: [number<StoredHistoryRecord>("seq", (row) => row.seq)] },
  incidents: {
    status: [
      number<IncidentRecord>("state_rank", (row) => stateRank(row.state)),
      number<IncidentRecord>("severity_rank", (row) => SEVERITY_RANK[row.severity]),
      incidentOpenedAt,
      incidentId,
    ],
    opened_at: [incidentOpenedAt, incidentId],
    resolved_at: [
      {
        name: "resolved_order",
        type: "bigint",
        of: (row: IncidentRecord) => row.resolved_at ?? NEVER,
      },
      incidentId,
    ],
  },
  outbox: {
    created_at: [instant<OutboxRecord>("created_at"), outboxId],
    updated_at: [instant<OutboxRecord>("updated_at"), outboxId],
  },
  blacklist: {
    stored: [instant<BlockedKeyRecord>("blocked_at"), text<BlockedKeyRecord>("blacklist_id")],
  },
  operators: { name: [text<OperatorRecord>("name")] },
  sessions: {
    created_at: [instant<SessionRecord>("created_at"), text<SessionRecord>("id")],
  },
  integrations: { name: [text<IntegrationRecord>("name")] },
  enrolments: {
    created_at: [instant<EnrolmentRecord>("created_at"), text<EnrolmentRecord>("id")],
  },
  watches: { name: [text<WatchRecord>("name")] },
  audit: {
    recorded_at: [instant<AuditRecord>("recorded_at"), text<AuditRecord>("id")],
  },
  silences: {
    created_at: [instant<SilenceRecord>("created_at"), text<SilenceRecord>("id")],
  },
  announcements: {
    created_at: [instant<AnnouncementRecord>("created_at"), text<AnnouncementRecord>("id")],
    ends_at: [
      { name: "ends_order", type: "bigint", of: (row: AnnouncementRecord) => row.ends_at ?? NEVER },
      text<AnnouncementRecord>("id"),
    ],
  },
  secrets: { name: [text<SecretRecord>("name")] },
} as const satisfies {
  readonly [L in ListName]: Readonly<Record<string, ReadonlyArray<SortColumn<ListRows[L]>>>>
}

export type ListSort<L extends ListName> = keyof (typeof ListOrders)[L] & string

export const orderColumns = <L extends ListName>(
  list: L,
  sort: ListSort<L>,
): ReadonlyArray<SortColumn<ListRows[L]>> => {
  // The table above ties each list to columns of its rows; an index by a type parameter loses that
  // tie.
  const orders = ListOrders[list] as unknown as Readonly<
    Record<string, ReadonlyArray<SortColumn<ListRows[L]>>>
  >
  const columns = orders[sort]
  if (columns === undefined) throw new Error(`list ${list} has no sort ${sort}`)
  return columns
}

/** Which rows of a list to read, in which order. */
export interface ListQuery<L extends ListName> {
  readonly list: L
  readonly filter: ListFilters[L]
  readonly sort: ListSort<L>
  readonly direction: "asc" | "desc"
}

/** A place in the order of a list: between rows, or at a row that may be gone. */
export interface Position {
  /** One value for each column of the order. */
  readonly values: ReadonlyArray<SortValue>
  /** Whether a row exactly at this place belongs to the page. */
  readonly isInclusive: boolean
}

/** One page of a list, as a storage reads it. */
export interface PageRequest<L extends ListName> extends ListQuery<L> {
  /** Where the page starts; absent for the first page. */
  readonly from: Position | undefined
  /** Whether the page lies before `from`. Its rows then come nearest to `from` first. */
  readonly isBackward: boolean
  readonly limit: number
}
