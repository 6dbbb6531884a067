import type { AgentId, CheckId, IncidentId, IncidentKey } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { CheckResultEvent } from "@tocsin/contract/Requests"
import type { IncidentKind } from "@tocsin/core/model/IncidentRecord"
import { HEARTBEAT } from "@tocsin/core/model/MemberRecord"
import type { CopySource } from "@tocsin/core/ports/Storage"
import { storedTables } from "@tocsin/core/model/StoredTables"
import type { AnyShape, CopiedRow } from "@tocsin/core/model/TableShape"
import type { ReadPast } from "@tocsin/core/ports/PolicySource"
import { TimerQueue } from "@tocsin/core/engine/TimerQueue"
import type { PastEntry } from "./Backtest.ts"
import type { KnownAgent, LabelledCheck } from "./registrationOf.ts"
import type { SilenceRecord } from "@tocsin/core/model/SilenceRecord"
import { Effect, Pull, Stream } from "effect"

/** A table with only some of its columns, so that the others are not read. */
const columnsOf = (table: AnyShape, ...names: ReadonlyArray<string>): AnyShape => ({
  name: table.name,
  key: table.key,
  columns: Object.fromEntries(Object.entries(table.columns).filter(([name]) => names.includes(name))),
})

// Columns come in the order of the shape, so the readers below name them in that order.
const AGENTS = columnsOf(storedTables.agent, "agent_id", "hostname", "labels")
const EXPECTATIONS = columnsOf(storedTables.expectation, "agent_id", "check_id", "labels")
const INCIDENTS = columnsOf(
  storedTables.incident,
  "id",
  "kind",
  "incident_key",
  "opener_agent_id",
  "opened_at",
  "resolved_at",
)
const LOG = columnsOf(storedTables.incident_log, "incident_id", "logged_at", "action", "ack_until")
const SILENCES = storedTables.silence
const RESULTS = columnsOf(
  storedTables.check_event,
  "agent_id",
  "event_id",
  "check_id",
  "received_at",
  "status",
  "exit_code",
  "notifications_enabled",
  "incident_key",
)

/** A row of a storage as an object. What was stored has been validated. */
const fieldsOf = <Row>({ columns }: AnyShape, row: CopiedRow): Row =>
  Object.fromEntries(Object.keys(columns).map((name, index) => [name, row[index] ?? undefined])) as Row

interface StoredLabels {
  readonly agent_id: AgentId
  readonly labels: string | undefined
}

interface PastIncident {
  readonly id: IncidentId
  readonly kind: IncidentKind
  readonly incident_key: IncidentKey
  readonly opener_agent_id: AgentId
  readonly opened_at: Instant.Instant
  readonly resolved_at: Instant.Instant | undefined
}

interface PastAct {
  readonly incident_id: IncidentId
  readonly logged_at: Instant.Instant
  readonly action: string
  readonly ack_until: Instant.Instant | undefined
}

interface StoredSilence extends Omit<SilenceRecord, "matchers"> {
  readonly matchers: string
}

interface PastResult extends Pick<CheckResultEvent, "event_id" | "check_id" | "status" | "incident_key"> {
  readonly agent_id: AgentId
  readonly received_at: Instant.Instant
  readonly exit_code: bigint
  readonly notifications_enabled: boolean
}

/** The checks with labels, by agent. */
const readLabelled = (source: CopySource) =>
  Stream.runFold(
    source.rows(EXPECTATIONS),
    () => new Map<AgentId, Array<LabelledCheck>>(),
    (labelled, rows) => {
      for (const row of rows) {
        const { agent_id, check_id, labels } = fieldsOf<StoredLabels & { readonly check_id: CheckId }>(
          EXPECTATIONS,
          row,
        )
        if (labels === undefined) continue
        const check = { check_id, labels: JSON.parse(labels) }
        const ofAgent = labelled.get(agent_id)
        if (ofAgent === undefined) labelled.set(agent_id, [check])
        else ofAgent.push(check)
      }
      return labelled
    },
  )

/** The agents that are registered now, and the labels of their checks. */
export const readAgents = Effect.fnUntraced(function* (source: CopySource) {
  const checks = yield* readLabelled(source)
  return yield* Stream.runFold(
    source.rows(AGENTS),
    (): Array<KnownAgent> => [],
    (agents, rows) => {
      for (const row of rows) {
        const { labels, ...agent } = fieldsOf<StoredLabels & Pick<KnownAgent, "hostname">>(AGENTS, row)
        const labelled = checks.get(agent.agent_id)
        agents.push({
          ...agent,
          ...(labels !== undefined && { labels: JSON.parse(labels) }),
          ...(labelled !== undefined && { labelled }),
        })
      }
      return agents
    },
  )
})

/** Acknowledgements and withdrawals, by incident. */
const readLog = (source: CopySource) =>
  Stream.runFold(
    source.rows(LOG),
    () => new Map<IncidentId, Array<PastAct>>(),
    (acts, rows) => {
      for (const row of rows) {
        const action = fieldsOf<PastAct>(LOG, row)
        if (action.action !== "acknowledged" && action.action !== "withdrawn") continue
        const ofIncident = acts.get(action.incident_id)
        if (ofIncident === undefined) acts.set(action.incident_id, [action])
        else ofIncident.push(action)
      }
      return acts
    },
  )

/** Silences as they begin; one whose end comes first was expired before. */
const readSilences = (source: CopySource) =>
  Stream.runFold(
    source.rows(SILENCES),
    (): Array<PastEntry> => [],
    (entries, rows) => {
      for (const row of rows) {
        const { matchers, ...fields } = fieldsOf<StoredSilence>(SILENCES, row)
        const silence = { ...fields, matchers: JSON.parse(matchers) }
        if (silence.starts_at < silence.ends_at)
          entries.push({ entry: "silenced", silence, at: silence.starts_at })
      }
      return entries
    },
  )

/** The timeline of an incident without results: the deaths of its agents, and operators' actions. */
const entriesOf = (incident: PastIncident, acts: ReadonlyArray<PastAct>): ReadonlyArray<PastEntry> => {
  const { incident_key, kind, opened_at, opener_agent_id: agent_id, resolved_at } = incident
  const isOfDead = kind === "automatic" && incident_key.endsWith(`/${HEARTBEAT}`)
  return [
    ...(isOfDead ? [{ entry: "died", agent_id, at: opened_at } as const] : []),
    ...(isOfDead && resolved_at !== undefined
      ? [{ entry: "returned", agent_id, at: resolved_at } as const]
      : []),
    ...acts.map(({ ack_until: until, logged_at: at }) =>
      until === undefined
        ? ({ entry: "withdrawn", kind, incident_key, at } as const)
        : ({ entry: "acknowledged", kind, incident_key, until, at } as const),
    ),
  ]
}

/** Reads silences, and incidents in the order in which they opened, as far as it is asked to. */
const incidentReader = Effect.fnUntraced(function* (source: CopySource) {
  const acts = yield* readLog(source)
  const pull = yield* Stream.toPull(source.rows(INCIDENTS))
  const agenda = new TimerQueue<PastEntry>()
  for (const entry of yield* readSilences(source)) agenda.set(entry, entry.at)
  let readUntil: Instant.Instant | undefined = Instant.fromMicros(0n)
  const read = (rows: ReadonlyArray<CopiedRow>) => {
    for (const row of rows) {
      const incident = fieldsOf<PastIncident>(INCIDENTS, row)
      readUntil = incident.opened_at
      for (const entry of entriesOf(incident, acts.get(incident.id) ?? [])) agenda.set(entry, entry.at)
    }
  }
  const next = Pull.matchEffect(pull, {
    onSuccess: (pieces) => Effect.sync(() => pieces.forEach(read)),
    onFailure: Effect.failCause,
    onDone: () =>
      Effect.sync(() => {
        readUntil = undefined
      }),
  })
  return {
    /** Everything up to a moment that was not taken before. */
    entriesUntil: Effect.fnUntraced(function* (at: Instant.Instant) {
      while (readUntil !== undefined && readUntil <= at) yield* next
      return agenda.take(at)
    }),
  }
})

/** Rows that one agent sent at one moment were one batch. */
const batchesOf = (rows: ReadonlyArray<CopiedRow>, known: ReadonlySet<AgentId>): ReadonlyArray<PastEntry> => {
  const batches: Array<PastEntry> = []
  let events: Array<CheckResultEvent> = []
  let agent: AgentId | undefined
  let at: Instant.Instant | undefined
  for (const row of rows) {
    const { agent_id, exit_code, incident_key, received_at, ...result } = fieldsOf<PastResult>(RESULTS, row)
    // The checks of a deleted agent are about to go.
    if (!known.has(agent_id)) continue
    if (agent_id !== agent || received_at !== at) {
      events = []
      ;[agent, at] = [agent_id, received_at]
      batches.push({ entry: "results", agent_id, events, at })
    }
    events.push({
      ...result,
      exit_code: Number(exit_code),
      ...(incident_key !== undefined && { incident_key }),
      // The service applied it, whatever the agent's clock said.
      observed_at: received_at,
      duration_ms: 0,
      output_truncated: false,
    })
  }
  return batches
}

const byTime = (a: PastEntry, b: PastEntry): number => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1)

/** How a past is read. */
export interface PastReader {
  readonly agents: ReadonlyArray<KnownAgent>
  /** Takes entries in the order of time, piece by piece. */
  readonly take: (entries: ReadonlyArray<PastEntry>) => Effect.Effect<void>
  /** Called after each piece. */
  readonly report: (read: { readonly done: number; readonly total: number }) => void
  readonly until: Instant.Instant
  /** How many results it reads at most: the newest. All unless given. */
  readonly most?: number | undefined
}

/** Reads a snapshot of an installation's past, in pieces. */
export const readHistory = Effect.fnUntraced(function* (
  source: CopySource,
  { agents, most, report, take, until }: PastReader,
) {
  const known = new Set(agents.map(({ agent_id }) => agent_id))
  const incidents = yield* incidentReader(source)
  const total = most ?? (yield* source.count(RESULTS))
  // Numbers are not reused, so that at most so many rows have a higher one.
  const after = most === undefined ? undefined : (yield* source.lastSeq) - BigInt(most)
  let past: ReadPast = { results: 0, from: undefined }
  yield* Stream.runForEach(
    source.rows(RESULTS, after),
    Effect.fnUntraced(function* (rows) {
      const batches = batchesOf(rows, known)
      const last = batches.at(-1)
      if (last !== undefined) {
        const others = yield* incidents.entriesUntil(last.at)
        yield* take([...others, ...batches].toSorted(byTime))
      }
      past = { results: past.results + rows.length, from: past.from ?? batches[0]?.at }
      report({ done: past.results, total })
    }),
  )
  yield* take(yield* incidents.entriesUntil(until))
  return past
}, Effect.scoped)
