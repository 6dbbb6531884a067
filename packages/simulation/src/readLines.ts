import { Predicate, Result, Schema, SchemaParser } from "effect"
import { decodeEventBatchRequest, decodeHeartbeatRequest } from "@tocsin/contract/v1/decodeRequest"
import { describeIssue } from "@tocsin/contract/formats/describeIssue"
import { type AgentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckResultEvent, HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import { StoredCheckResultEvent } from "@tocsin/contract/v1/Resources"
import { type Expectation, readExpectation, lineReader } from "./Expectation.ts"
import type { RefusedLine } from "./SimulationReport.ts"
import { AcknowledgeRequest } from "@tocsin/contract/acknowledgements/Acknowledgements"
import { closedStruct } from "@tocsin/contract/formats/Fields"
import { InstantFromString } from "@tocsin/contract/formats/Instant"
import { OverrideRequest } from "@tocsin/contract/onCall/Rotas"
import { SilenceChangeRequest, SilenceRequest } from "@tocsin/contract/silences/Silences"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { isPlainText } from "@tocsin/contract/formats/Text"

const by = Schema.optionalKey(Schema.String.check(isPlainText({ min: 1, max: 64 })))

const ofIncident = {
  received_at: InstantFromString,
  /** IDs differ from run to run; the key names the incident that is open then. */
  incident_key: IncidentKey,
}

const Acknowledged = closedStruct({
  ...ofIncident,
  acknowledge: closedStruct({ by, ...AcknowledgeRequest.fields }),
})
const Withdrawn = closedStruct({ ...ofIncident, withdraw: closedStruct({ by }) })

/** A name of the input's own: IDs differ from run to run. */
const itemName = Schema.String.check(isPlainText({ min: 1, max: 64 }))
const ofSilence = { received_at: InstantFromString, silence: itemName }
const ofOverride = { received_at: InstantFromString, override: itemName }

const Added = closedStruct({ ...ofSilence, add: closedStruct({ by, ...SilenceRequest.fields }) })
const Extended = closedStruct({ ...ofSilence, extend: closedStruct({ by, ...SilenceChangeRequest.fields }) })
const Expired = closedStruct({ ...ofSilence, expire: closedStruct({ by }) })
const Created = closedStruct({
  ...ofOverride,
  create: closedStruct({ by, rota: NotifierName, ...OverrideRequest.fields }),
})
const Ended = closedStruct({ ...ofOverride, end: closedStruct({ by }) })

type OnIncident = typeof Acknowledged | typeof Withdrawn
type OnSilence = typeof Added | typeof Extended | typeof Expired
type OnOverride = typeof Created | typeof Ended
type OfPerson = OnIncident | OnSilence | OnOverride

/** A line about an act of a person, as it is written. */
export type WrittenAct = OfPerson["Encoded"]

type ActEntry = OfPerson["Type"] & {
  readonly entry: "act"
  readonly received_at: Instant.Instant
  /** Its line, named if the act turns out to be impossible. */
  readonly line: number
}

export type IncidentLogEntry = Extract<ActEntry, OnIncident["Type"]>

export type SilenceAct = Extract<ActEntry, OnSilence["Type"]>

export type OverrideAct = Extract<ActEntry, OnOverride["Type"]>

type Fields = Readonly<Record<string, unknown>>

type Read<A> = Result.Result<A, string>

const READERS: Readonly<Record<string, (fields: Fields) => Read<OfPerson["Type"]>>> = {
  acknowledge: lineReader(Acknowledged),
  withdraw: lineReader(Withdrawn),
  add: lineReader(Added),
  extend: lineReader(Extended),
  expire: lineReader(Expired),
  create: lineReader(Created),
  end: lineReader(Ended),
}

/** Reads a line about an act; nothing if it is about something else. */
const readAct = (fields: Fields, line: number): Read<ReadonlyArray<ActEntry>> | undefined => {
  const [, read] = Object.entries(READERS).find(([name]) => name in fields) ?? []
  return read && Result.map(read(fields), (act): ReadonlyArray<ActEntry> => [{ entry: "act", line, ...act }])
}

export type SimulationEntry =
  | { readonly entry: "heartbeat"; readonly received_at: Instant.Instant; readonly request: HeartbeatRequest }
  | ResultsEntry
  | ActEntry

/** Results of one agent that are decided together, as a batch. */
export interface ResultsEntry {
  readonly entry: "results"
  readonly received_at: Instant.Instant
  readonly agent_id: AgentId
  readonly events: ReadonlyArray<CheckResultEvent>
  /** Whether it is a row of the history, one of possibly many that arrived as one batch. */
  readonly isStored: boolean
}

type Entries = Result.Result<ReadonlyArray<SimulationEntry>, string>
type Line = Result.Result<ReadonlyArray<SimulationEntry> | Expectation, string>

const parseJson = SchemaParser.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))
const decodeStored = SchemaParser.decodeUnknownResult(StoredCheckResultEvent)

const NO_TIME =
  "received_at must be the time of receipt, an RFC 3339 date-time in UTC, such as 2026-01-31T08:30:00Z"
const NO_KIND =
  "a line must be a heartbeat (hostname, features), a batch (events), a stored result (event_id) or a page of these (items), an act of a person (acknowledge, withdraw; add, extend, expire; create, end), or an expectation (expect, expect_none, expect_at_most)"

/** A request body with `received_at` beside its own fields. */
const readBody = <Request>(
  { received_at: time, ...body }: Fields,
  decode: (body: unknown) => Result.Result<Request, { readonly message: string }>,
  toEntry: (request: Request, received_at: Instant.Instant) => SimulationEntry,
): Entries => {
  const received_at = typeof time === "string" ? Instant.parse(time) : undefined
  if (received_at === undefined) return Result.fail(NO_TIME)
  return Result.mapBoth(decode(body), {
    onSuccess: (request) => [toEntry(request, received_at)],
    onFailure: ({ message }) => message,
  })
}

const readStored = (item: unknown): Result.Result<SimulationEntry, string> =>
  Result.mapBoth(decodeStored(item), {
    onSuccess: ({ agent_id, received_at, ...event }): SimulationEntry => ({
      entry: "results",
      received_at,
      agent_id,
      events: [event],
      isStored: true,
    }),
    onFailure: (issue) => describeIssue(issue, "the stored result"),
  })

/** Pages list the newest first. */
const readPage = (items: ReadonlyArray<unknown>): Entries => {
  const entries: Array<SimulationEntry> = []
  for (const [index, item] of items.entries()) {
    const entry = readStored(item)
    if (Result.isFailure(entry)) return Result.fail(`items[${index}]: ${entry.failure}`)
    entries.unshift(entry.success)
  }
  return Result.succeed(entries)
}

const readFields = (fields: Fields, line: number): Line => {
  const expectation = readExpectation(fields, line)
  if (expectation !== undefined) return expectation
  const act = readAct(fields, line)
  if (act !== undefined) return act
  if (Array.isArray(fields["items"])) return readPage(fields["items"])
  if ("events" in fields) {
    return readBody(fields, decodeEventBatchRequest, (request, received_at) => ({
      entry: "results",
      received_at,
      isStored: false,
      ...request,
    }))
  }
  if ("event_id" in fields) return Result.map(readStored(fields), (entry) => [entry])
  if (!("hostname" in fields) && !("features" in fields)) return Result.fail(NO_KIND)
  return readBody(fields, decodeHeartbeatRequest, (request, received_at) => ({
    entry: "heartbeat",
    received_at,
    request,
  }))
}

/**
 * Reads one line of input, JSON as text or its value. One of
 *
 * - the body of POST /api/v1/heartbeat, with `received_at` beside its fields
 * - the body of POST /api/v1/events, likewise
 * - an item of GET /api/v1/events/query
 * - a page of that endpoint
 * - an act on the open incident of a key: `incident_key`, `received_at`, and `acknowledge` with the body of
 *   PUT /ops/v1/incidents/{id}/acknowledgement and `by`, or `withdraw` with `by`
 * - an act on a silence: `silence`, its name in the input, `received_at`, and `add` with the body of
 *   POST /ops/v1/silences, `extend` with that of PATCH, or `expire`, each with `by`
 * - an act on an override: `override`, its name in the input, `received_at`, and `create` with `rota` and the body of
 *   POST /ops/v1/rotas/{name}/overrides, or `end`, each with `by`
 * - an {@link Expectation} of messages
 *
 * Fails with one sentence if it is none of these.
 */
const readLine = (line: unknown, number: number): Line => {
  if (typeof line !== "string")
    return Predicate.isObject(line) ? readFields(line, number) : Result.fail(NO_KIND)
  const parsed = parseJson(line)
  if (Result.isFailure(parsed)) return Result.fail("a line must be valid JSON")
  return Predicate.isObject(parsed.success) ? readFields(parsed.success, number) : Result.fail(NO_KIND)
}

/** The entries in the order of receipt, the expectations in that of their lines, and the refused lines. */
interface ReadLines {
  readonly entries: ReadonlyArray<SimulationEntry>
  readonly expectations: ReadonlyArray<Expectation>
  readonly refused: ReadonlyArray<RefusedLine>
}

const BLANK = /^[\s\uFEFF]*$/

/**
 * Reads lines and orders them by receipt. Lines of one moment keep their order. If the input runs
 * from the newest to the oldest, as the API lists history, it is read from its end. Single results
 * that all arrived at one moment count as oldest first.
 */
export const readLines = (lines: Iterable<unknown>): ReadLines => {
  const read: Array<ReadonlyArray<SimulationEntry>> = []
  const expectations: Array<Expectation> = []
  const refused: Array<RefusedLine> = []
  let number = 0
  for (const line of lines) {
    number += 1
    if (typeof line === "string" && BLANK.test(line)) continue
    const entries = readLine(line, number)
    if (Result.isFailure(entries)) refused.push({ line: number, reason: entries.failure })
    else if ("kind" in entries.success) expectations.push(entries.success)
    else if (entries.success.length > 0) read.push(entries.success)
  }
  const first = read[0]?.[0]
  const last = read.at(-1)?.[0]
  const isNewestFirst = first !== undefined && last !== undefined && first.received_at > last.received_at
  if (isNewestFirst) read.reverse()
  const entries = read.flat().toSorted(byReceipt)
  return { entries: gathered(entries), expectations, refused }
}

const byReceipt = (a: SimulationEntry, b: SimulationEntry): number =>
  a.received_at === b.received_at ? 0 : a.received_at < b.received_at ? -1 : 1

/** Rows of the history that one agent sent at one moment were one batch, and are decided as one. */
const gathered = (entries: ReadonlyArray<SimulationEntry>): ReadonlyArray<SimulationEntry> => {
  const batches: Array<SimulationEntry> = []
  let batch: (ResultsEntry & { readonly events: Array<ResultsEntry["events"][number]> }) | undefined
  for (const entry of entries) {
    if (entry.entry !== "results" || !entry.isStored) {
      batches.push(entry)
      batch = undefined
    } else if (batch?.agent_id === entry.agent_id && batch.received_at === entry.received_at) {
      batch.events.push(...entry.events)
    } else {
      batch = { ...entry, events: [...entry.events] }
      batches.push(batch)
    }
  }
  return batches
}
