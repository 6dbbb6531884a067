import { NotificationType, OutboxState } from "@tocsin/core/contract/Status"
import { SEVERITY_RANK } from "@tocsin/core/incidents/MemberRecord"
import type { ListName } from "@tocsin/core/engine/lists/ListDefinitions"
import { AGENT_KEY_COLUMNS, type BlockedKeyRow, toBlockedKey } from "../rows/AgentKeyRows.ts"
import { AGENT_COLUMNS, type AgentRow, toAgent } from "../rows/AgentRows.ts"
import { CHECK_COLUMNS, type CheckRow, toCheck } from "../rows/CheckRows.ts"
import { HISTORY_COLUMNS, type HistoryRow, toHistory } from "../rows/HistoryRows.ts"
import { INCIDENT_COLUMNS, type IncidentRow, toIncident } from "../rows/IncidentRows.ts"
import { OUTBOX_COLUMNS, type OutboxRow, toOutboxItem } from "../rows/OutboxRows.ts"
import { type Fixed, type Fragment, type ListSource, listSource, type Selection } from "./ListSource.ts"

const STATE_RANK = { open: 1, resolved: 0 } as const

/** Hides what a deleted agent left. The rows come first, in their order, each with a look at its agent. */
const PRESENT = "CROSS JOIN agent AS a ON a.agent_id = r.agent_id AND a.registration_id = r.registration_id"

const text = (sql: string): Fragment => ({ sql, values: [] })

const fixed = (column: string, value: string | number | undefined): ReadonlyArray<Fixed> =>
  value === undefined ? [] : [{ column, value }]

const plain = (from: string, parts: Partial<Selection> = {}): Selection => ({
  from: text(from),
  conditions: [],
  fixed: [],
  partitions: [],
  ...parts,
})

const agents = listSource<"agents", AgentRow>({
  columns: AGENT_COLUMNS,
  toRecord: toAgent,
  select: () => plain("agent AS r"),
})

const checks = listSource<"checks", CheckRow>({
  columns: CHECK_COLUMNS,
  toRecord: toCheck,
  select: ({ agent_id }) => plain(`check_state AS r ${PRESENT}`, { fixed: fixed("agent_id", agent_id) }),
})

const history = listSource<"history", HistoryRow>({
  columns: HISTORY_COLUMNS,
  toRecord: toHistory,
  select: ({ agent_id, check_id }) =>
    agent_id === undefined
      ? plain(`check_event AS r ${PRESENT}`, { fixed: fixed("check_id", check_id) })
      : plain("check_event AS r", {
          conditions: [
            {
              sql: "r.registration_id = (SELECT registration_id FROM agent WHERE agent_id = ?)",
              values: [agent_id],
            },
          ],
          fixed: fixed("check_id", check_id),
        }),
})

const incidents = listSource<"incidents", IncidentRow>({
  columns: INCIDENT_COLUMNS,
  toRecord: toIncident,
  select: ({ state, severity, agent_id, check_id }) => {
    const ranks = [
      ...fixed("state_rank", state && STATE_RANK[state]),
      ...fixed("severity_rank", severity && SEVERITY_RANK[severity]),
    ]
    const member = [...fixed("agent_id", agent_id), ...fixed("check_id", check_id)]
    if (member.length > 0) return { ...plain(""), from: incidentsOf(member), fixed: ranks }
    return plain("incident AS r", {
      fixed: ranks,
      partitions: [
        { column: "state_rank", values: Object.values(STATE_RANK) },
        { column: "severity_rank", values: Object.values(SEVERITY_RANK) },
      ],
    })
  },
})

/** The incidents that such a member is or was in, found by their members: as many as they are, they are sorted. */
const incidentsOf = (member: ReadonlyArray<Fixed>): Fragment => ({
  sql: `(SELECT DISTINCT incident_id FROM incident_member
    WHERE ${member.map(({ column }) => `${column} = ?`).join(" AND ")}) AS m
    CROSS JOIN incident AS r ON r.id = m.incident_id`,
  values: member.map(({ value }) => value),
})

const outbox = listSource<"outbox", OutboxRow>({
  columns: OUTBOX_COLUMNS,
  toRecord: toOutboxItem,
  select: ({ state, notifier, event_type }, { notifiers }) =>
    plain("outbox AS r", {
      fixed: [...fixed("state", state), ...fixed("notifier", notifier), ...fixed("event_type", event_type)],
      partitions: [
        { column: "state", values: OutboxState.literals },
        { column: "notifier", values: notifiers },
        { column: "event_type", values: NotificationType.literals },
      ],
    }),
})

const blacklist = listSource<"blacklist", BlockedKeyRow>({
  columns: AGENT_KEY_COLUMNS,
  toRecord: toBlockedKey,
  select: () => plain("agent_key AS r", { conditions: [text("r.state = 'blocked'")] }),
})

/** Every list. */
export const ListSources: { readonly [L in ListName]: ListSource<L> } = {
  agents,
  checks,
  history,
  incidents,
  outbox,
  blacklist,
}
