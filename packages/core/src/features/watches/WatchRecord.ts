import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { Confirmation } from "@tocsin/contract/checks/confirmResult"
import { type StoredProbe } from "@tocsin/contract/watches/WatchProbe"
import type { Labels } from "@tocsin/contract/labels/Labels"
import { type Fails, USUAL_FAILS, USUAL_FROM } from "@tocsin/contract/watches/places"
import { USUAL_CONFIRM } from "@tocsin/contract/watches/Watches"
import {
  instant,
  integer,
  keyedTable,
  long,
  object,
  orUndefined,
  type RecordOf,
  text,
} from "../../kernel/model/TableShape.ts"
import type { PlaceState } from "./placeDecisions.ts"

/** Header fields, credentials and body of a probe, encrypted (docs/rules.md#stored-secrets). */
export interface SealedSecrets {
  readonly ciphertext: string
  /** Identifies the key that opens it, without revealing that. */
  readonly key_id: string
  /** The names of its secrets, as a watch shows them; an earlier version stored header fields without their names. */
  readonly names?: ReadonlyArray<string>
}

/** A {@link PlaceState} as it is stored: its moments in microseconds. */
interface StoredPlaceState extends Omit<PlaceState, "at" | "counted_at"> {
  readonly at: number
  readonly counted_at?: number
}

/** The places of a watch, with what each has reported. */
export interface WatchPlaces {
  readonly from: ReadonlyArray<AgentId>
  readonly fails: Fails
  /** When the watch was created, or its probe or places were changed, in microseconds. */
  readonly since: number
  readonly states: Readonly<Record<string, StoredPlaceState>>
  /** The confirmed statuses of the service as a place, each from a moment in microseconds on. */
  readonly here?: ReadonlyArray<readonly [from: number, status: CheckStatus]>
  /** The last decision; its moment in microseconds. */
  readonly decided?: { readonly at: number; readonly status: CheckStatus; readonly output: string }
}

/**
 * One watch as stored, with the state of its probes (docs/rules.md#watches). The lock of the watches' agent guards
 * the rows, except that the first one creates both.
 */
export const watch = keyedTable({
  name: "watch",
  key: ["name"],
  locks: "rows",
  group: [],
  list: { name: "watches", orders: { name: ["name"] } },
  columns: {
    /** Names its check, too. */
    name: text<CheckId>(),
    title: orUndefined(text()),
    every_millis: long,
    confirm: object<Confirmation>(USUAL_CONFIRM),
    probe: object<StoredProbe>(),
    /** The secrets of its probe; a probe of an earlier version has its header fields in clear. */
    headers: orUndefined(object<SealedSecrets>()),
    /** Its places, unless the service alone probes it by the usual terms. */
    places: orUndefined(object<WatchPlaces>({ from: USUAL_FROM, fails: USUAL_FAILS, since: 0, states: {} })),
    /** Those of its check; absent without any. */
    labels: orUndefined(object<Labels>()),
    origin: text<"operator" | "policy">(),
    /** When its pause ends; `FOREVER` for one that lasts until it is ended. */
    paused_until: orUndefined(instant),
    created_at: instant,
    created_by: text(),
    /** When it is due. Its next result must answer this moment, so two replicas never count the same probe. */
    next_probe_at: instant,
    probed_at: orUndefined(instant),
    /** The status and the output of the latest probe, whether it counts or not. */
    status: orUndefined(text<CheckStatus>()),
    output: orUndefined(text()),
    /** The status that counts, and since when. */
    counted: orUndefined(text<CheckStatus>()),
    counted_at: orUndefined(instant),
    /** How many results in a row contradict it. */
    against: integer,
  },
})
export type WatchRecord = RecordOf<typeof watch>

/** The query of all watches, by name. */
export const ALL_WATCHES = { list: "watches", filter: {}, sort: "name", direction: "asc" } as const

/** A watch as an operator or the policy defines it, with its places. */
export type WatchTerms = Pick<
  WatchRecord,
  "name" | "title" | "every_millis" | "confirm" | "probe" | "headers" | "labels"
> &
  Pick<WatchPlaces, "from" | "fails">

export const FOREVER = Instant.LATEST

export const isPaused = ({ paused_until }: WatchRecord, now: Instant.Instant): boolean =>
  paused_until !== undefined && paused_until > now
