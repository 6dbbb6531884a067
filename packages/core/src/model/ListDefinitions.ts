import { Record } from "effect"
import type { BlockedKeyRecord } from "./AgentRecord.ts"
import type { AnnouncementRecord, AnnouncementState } from "./AnnouncementRecord.ts"
import type { AuditActionName } from "@tocsin/contract/AuditActions"
import type { AgentId, CheckId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type {
  IncidentState,
  ListedStatus,
  NotificationType,
  NotifierName,
  OutboxState,
  Severity,
} from "@tocsin/contract/Status"
import type { IncidentRecord } from "./IncidentRecord.ts"
import { SEVERITY_RANK } from "./MemberRecord.ts"
import type { SilenceState } from "./SilenceRecord.ts"
import { forNames, type StoredName, storedTables } from "./StoredTables.ts"
import type { AnyShape, ColumnType, TableShape } from "./TableShape.ts"

/** A value that rows are ordered by. Text is compared bytewise; instants and ranks are numbers. */
export type SortValue = string | number | bigint

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
    readonly notifier?: NotifierName | undefined
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

interface GeneratedColumn {
  readonly type: SortColumn<never>["type"]
  readonly of: (row: never) => SortValue
}

/** The columns of orders that databases generate. Ranks: open above resolved, critical above unknown above warning. */
const GENERATED = {
  ends_order: { type: "bigint", of: ({ ends_at }: AnnouncementRecord) => ends_at ?? NEVER },
  resolved_order: { type: "bigint", of: ({ resolved_at }: IncidentRecord) => resolved_at ?? NEVER },
  severity_rank: { type: "number", of: ({ severity }: IncidentRecord) => SEVERITY_RANK[severity] },
  state_rank: { type: "number", of: ({ state }: IncidentRecord) => (state === "open" ? 1 : 0) },
} as const satisfies Readonly<Record<string, GeneratedColumn>>

/**
 * The columns of the orders of every list (docs/rules.md#lists). All columns of an order run in one direction, and
 * the last one makes it total.
 */
export const ListOrders = {
  agents: { agent_id: ["agent_id"] },
  checks: { agent_id: ["agent_id", "check_id"] },
  overdue: { agent_id: ["agent_id", "check_id"] },
  history: { stored: ["seq"] },
  incidents: {
    status: ["state_rank", "severity_rank", "opened_at", "id"],
    opened_at: ["opened_at", "id"],
    resolved_at: ["resolved_order", "id"],
  },
  outbox: { created_at: ["created_at", "id"], updated_at: ["updated_at", "id"] },
  blacklist: { stored: ["blocked_at", "blacklist_id"] },
  operators: { name: ["name"] },
  sessions: { created_at: ["created_at", "id"] },
  integrations: { name: ["name"] },
  enrolments: { created_at: ["created_at", "id"] },
  watches: { name: ["name"] },
  audit: { recorded_at: ["recorded_at", "id"] },
  silences: { created_at: ["created_at", "id"] },
  announcements: { created_at: ["created_at", "id"], ends_at: ["ends_order", "id"] },
  secrets: { name: ["name"] },
} as const satisfies {
  readonly [L in ListName]: Readonly<
    Record<string, ReadonlyArray<(keyof ListRows[L] & string) | keyof typeof GENERATED>>
  >
}

export type ListSort<L extends ListName> = keyof (typeof ListOrders)[L] & string

const SORT_TYPES: { readonly [Type in ColumnType]?: SortColumn<never>["type"] } = {
  text: "text",
  long: "number",
  instant: "bigint",
}

const sortColumn = <L extends ListName>(list: L, name: string): SortColumn<ListRows[L]> => {
  const { columns }: AnyShape = listShape(list)
  const { [name]: generated }: Readonly<Record<string, GeneratedColumn>> = GENERATED
  const type = generated?.type ?? SORT_TYPES[columns[name]?.type ?? "object"]
  if (type === undefined) throw new Error(`list ${list} cannot be ordered by ${name}`)
  // ListOrders ties each list to columns of its rows, which have such values.
  const of = generated?.of ?? ((row: ListRows[L]) => row[name as keyof ListRows[L]])
  return { name, type, of: of as SortColumn<ListRows[L]>["of"] }
}

type Orders<L extends ListName> = Readonly<Record<string, ReadonlyArray<SortColumn<ListRows[L]>>>>

const orders = forNames<ListName, { readonly [L in ListName]: Orders<L> }>(listNames, (list) => {
  const named: Readonly<Record<string, ReadonlyArray<string>>> = ListOrders[list]
  return Record.map(named, (names) => names.map((name) => sortColumn(list, name)))
})

export const orderColumns = <L extends ListName>(
  list: L,
  sort: ListSort<L>,
): ReadonlyArray<SortColumn<ListRows[L]>> => {
  const ofList: Orders<L> = orders[list]
  const columns = ofList[sort]
  if (columns === undefined) throw new Error(`list ${list} has no sort ${sort}`)
  return columns
}

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

export interface PageRequest<L extends ListName> extends ListQuery<L> {
  /** Where the page starts; absent for the first page. */
  readonly from: Position | undefined
  /** Whether the page lies before `from`. Its rows then come nearest to `from` first. */
  readonly isBackward: boolean
  readonly limit: number
}
