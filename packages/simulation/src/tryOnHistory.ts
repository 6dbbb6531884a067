/// <reference lib="es2024.collection" />
import type { TrialCounts, TrialRequest, ReadPast } from "@tocsin/core/features/trial/HistoryTrial"
import type { CopySource } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Pull, Stream } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type PastEntry, Trial } from "./Trial.ts"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { CheckResultEvent } from "@tocsin/contract/v1/Requests"
import { TimerQueue } from "@tocsin/core/kernel/unitOfWork/TimerQueue"
import type { CheckLabelRecord } from "@tocsin/core/heart/model/CheckLabelRecord"
import { HEARTBEAT } from "@tocsin/core/heart/model/MemberRecord"
import type { RotaOverrideRecord } from "@tocsin/core/heart/model/RotaOverrideRecord"
import type { SilenceRecord } from "@tocsin/core/heart/model/SilenceRecord"
import { storedTables } from "@tocsin/core/lists/StoredTables"
import {
  type AnyShape,
  copiedDecoder,
  type CopiedRow,
  type TableShape,
} from "@tocsin/core/kernel/model/TableShape"
import type { KnownAgent } from "./registrationOf.ts"

/** A table with only some of its columns, so that the others are not read. */
const columnsOf = <Row, Name extends keyof Row & string>(
  table: TableShape<Row>,
  names: ReadonlyArray<Name>,
) => {
  const { columns, key, name }: AnyShape = table
  const read = Object.entries(columns).filter(([column]) => names.some((one) => one === column))
  const shape: AnyShape = { name, key, columns: Object.fromEntries(read) }
  // It has the columns of these names.
  const decode = copiedDecoder(shape as TableShape<Pick<Row, Name>>)
  return { shape, decode }
}

const AGENTS = columnsOf(storedTables.agent, ["agent_id", "hostname", "labels"])
const LABELS = columnsOf<CheckLabelRecord, "agent_id" | "check_id" | "labels">(storedTables.check_label, [
  "agent_id",
  "check_id",
  "labels",
])
const INCIDENTS = columnsOf(storedTables.incident, [
  "id",
  "kind",
  "incident_key",
  "opener_agent_id",
  "opened_at",
  "resolved_at",
])
const LOG = columnsOf(storedTables.incident_log, ["incident_id", "logged_at", "action", "ack_until"])
const SILENCES = {
  shape: storedTables.silence,
  decode: copiedDecoder<SilenceRecord>(storedTables.silence),
}
const OVERRIDES = {
  shape: storedTables.rota_override,
  decode: copiedDecoder<RotaOverrideRecord>(storedTables.rota_override),
}
const RESULTS = columnsOf(storedTables.check_event, [
  "agent_id",
  "event_id",
  "check_id",
  "received_at",
  "status",
  "exit_code",
  "notifications_enabled",
  "incident_key",
])

/** Keeps a part of each row of a table, all at once. */
const readAll = <Row, Kept>(
  source: CopySource,
  { decode, shape }: { readonly shape: AnyShape; readonly decode: (row: CopiedRow) => Row },
  keep: (row: Row) => Kept | undefined,
) =>
  Stream.runFold(
    source.rows(shape),
    (): Array<Kept> => [],
    (all, rows) => {
      for (const row of rows) {
        const kept = keep(decode(row))
        if (kept !== undefined) all.push(kept)
      }
      return all
    },
  )

/** The agents that are registered now, and the labels of their checks. */
const readAgents = Effect.fnUntraced(function* (source: CopySource) {
  const labelled = yield* readAll(source, LABELS, (check) => check)
  const checks = Map.groupBy(labelled, ({ agent_id }) => agent_id)
  return yield* readAll(source, AGENTS, ({ labels, ...agent }): KnownAgent => {
    const ofAgent = checks.get(agent.agent_id)
    return { ...agent, ...(labels && { labels }), ...(ofAgent && { labelled: ofAgent }) }
  })
})

/** Acknowledgements and withdrawals, by incident. */
const readLog = (source: CopySource) =>
  Effect.map(
    readAll(source, LOG, (act) =>
      act.action === "acknowledged" || act.action === "withdrawn" ? act : undefined,
    ),
    (acts) => Map.groupBy(acts, ({ incident_id }) => incident_id),
  )

/** Silences as they begin; one whose end comes first was expired before. */
const readSilences = (source: CopySource) =>
  readAll(source, SILENCES, (silence): PastEntry | undefined =>
    silence.starts_at < silence.ends_at ? { entry: "silenced", silence, at: silence.starts_at } : undefined,
  )

/** Overrides as they were made; one that ended before its begin never counted. */
const readOverrides = (source: CopySource) =>
  readAll(source, OVERRIDES, (override): PastEntry | undefined =>
    override.starts_at < override.ends_at
      ? { entry: "overridden", override, at: override.created_at }
      : undefined,
  )

type PastIncident = ReturnType<typeof INCIDENTS.decode>
type PastAct = ReturnType<typeof LOG.decode>

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

/** Reads silences and overrides, and incidents in the order in which they opened, as far as it is asked to. */
const incidentReader = Effect.fnUntraced(function* (source: CopySource) {
  const acts = yield* readLog(source)
  const pull = yield* Stream.toPull(source.rows(INCIDENTS.shape))
  const agenda = new TimerQueue<PastEntry>()
  const first = [...(yield* readSilences(source)), ...(yield* readOverrides(source))]
  for (const entry of first) agenda.set(entry, entry.at)
  let readUntil: Instant.Instant | undefined = Instant.fromMicros(0n)
  const read = (rows: ReadonlyArray<CopiedRow>) => {
    for (const row of rows) {
      const incident = INCIDENTS.decode(row)
      readUntil = incident.opened_at
      for (const entry of entriesOf(incident, acts.get(incident.id) ?? [])) agenda.set(entry, entry.at)
    }
  }
  const next = Pull.matchEffect(pull, {
    onSuccess: (pieces) => Effect.sync(() => pieces.forEach(read)),
    onFailure: Effect.failCause,
    onDone: () => Effect.sync(() => void (readUntil = undefined)),
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
    const { agent_id, received_at, ...result } = RESULTS.decode(row)
    // The checks of a deleted agent are about to go.
    if (!known.has(agent_id)) continue
    if (agent_id !== agent || received_at !== at) {
      events = []
      ;[agent, at] = [agent_id, received_at]
      batches.push({ entry: "results", agent_id, events, at })
    }
    events.push({
      ...result,
      // The service applied it, whatever the agent's clock said.
      observed_at: received_at,
      duration_ms: 0,
      output_truncated: false,
    })
  }
  return batches
}

const byTime = (a: PastEntry, b: PastEntry): number => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1)

interface HistoryRequest extends Omit<TrialRequest, "most">, Partial<Pick<TrialRequest, "most">> {
  readonly report?: (read: { readonly done: number; readonly total: number }) => void
}

/** Plays two policies on the history of a snapshot, which is read once, in pieces. */
export const tryOnHistory = Effect.fnUntraced(function* (
  source: CopySource,
  { inForce, most, report = () => {}, since, staleAfter, tried, until }: HistoryRequest,
) {
  const agents = yield* readAgents(source)
  const options = { agents, since, staleAfter, start: Instant.fromMicros(0n) }
  const trials = [new Trial(inForce, options), new Trial(tried, options)] as const
  const take = (entries: ReadonlyArray<PastEntry>) => trials.forEach((trial) => trial.take(entries))
  const known = new Set(agents.map(({ agent_id }) => agent_id))
  const incidents = yield* incidentReader(source)
  const total = most ?? (yield* source.count(RESULTS.shape))
  // Numbers are not reused, so that at most so many rows have a higher one.
  const after = most === undefined ? undefined : (yield* source.lastSeq) - BigInt(most)
  let past: ReadPast = { results: 0, from: undefined }
  yield* Stream.runForEach(
    source.rows(RESULTS.shape, after),
    Effect.fnUntraced(function* (rows) {
      const batches = batchesOf(rows, known)
      const last = batches.at(-1)
      if (last !== undefined) {
        const others = yield* incidents.entriesUntil(last.at)
        take([...others, ...batches].toSorted(byTime))
      }
      past = { results: past.results + rows.length, from: past.from ?? batches[0]?.at }
      report({ done: past.results, total })
      // A command shows its progress meanwhile, and hears that it is to end.
      yield* Effect.yieldNow
    }),
  )
  take(yield* incidents.entriesUntil(until))
  const [counts, triedCounts] = [trials[0].end(until), trials[1].end(until)]
  return { inForce: counts, tried: triedCounts, past } satisfies TrialCounts
}, Effect.scoped)
