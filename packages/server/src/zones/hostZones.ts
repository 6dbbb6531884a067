import { readFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { type TimeZone, timeZoneOf, zonesInUse } from "@tocsin/contract/formats/zoneClocks"
import { Result } from "effect"

/** Where the C library finds time zones. Node.js brings its own, and does not follow TZDIR. */
const folderOf = ({ TZDIR }: NodeJS.ProcessEnv): string => TZDIR ?? "/usr/share/zoneinfo"

const WEEK = 7 * 86_400
/** How far ahead zones are compared: each change of a year is within. */
const WEEKS = 56
const MINUTE = 60_000

const readPart = (path: string): Buffer | undefined =>
  Result.getOrUndefined(Result.try(() => readFileSync(path)))

/** The version of the machine's time zones, such as `2026f`. */
const hostVersion = (folder: string): string | undefined =>
  /^(?:# version )?(\d{4}[a-z]+)\s/u.exec(
    (readPart(join(folder, "tzdata.zi")) ?? readPart(join(folder, "+VERSION")))?.toString("latin1", 0, 40) ??
      "",
  )?.[1]

const HEADER = 44
/** Bytes of the lists behind a header, by the counts in it (RFC 9636, section 3.1), with times of a size. */
const listsOf = (file: Buffer, header: number, size: number) => {
  const [utc = 0, standard = 0, leaps = 0, times = 0, types = 0, letters = 0] = Array.from(
    { length: 6 },
    (_, n) => file.readUInt32BE(header + 20 + n * 4),
  )
  const start = header + HEADER
  const offsets = start + times * (size + 1)
  return { start, times, offsets, end: offsets + types * 6 + letters + leaps * (size + 4) + standard + utc }
}

interface Change {
  /** In seconds since 1970. */
  readonly at: number
  /** In seconds. */
  readonly offset: number
}

/**
 * The changes of a zone in a file of the machine. None, if rules follow the last one: Debian and most others write
 * them out until 2037.
 */
const changesIn = (file: Buffer): ReadonlyArray<Change> => {
  if (file.toString("latin1", 0, 4) !== "TZif" || (file[4] ?? 0) < 0x32) return []
  const { offsets, start, times, end } = listsOf(file, listsOf(file, 0, 4).end, 8)
  const offsetOf = (type: number): number => file.readInt32BE(offsets + type * 6)
  const changes = Array.from({ length: times }, (_, n) => ({
    at: Number(file.readBigInt64BE(start + n * 8)),
    offset: offsetOf(file[start + times * 8 + n] ?? 0),
  }))
  const hasRules = file.toString("latin1", end).includes(",")
  return [
    { at: Number.NEGATIVE_INFINITY, offset: offsetOf(0) },
    ...changes,
    ...(hasRules ? [{ at: changes.at(-1)?.at ?? 0, offset: Number.NaN }] : []),
  ]
}

/** A zone whose clocks the machine's data and Node.js's set differently. */
export interface DifferingZone {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly from: number
  readonly minutes: number
}

const differenceOf = (zone: TimeZone, folder: string, now: number): DifferingZone | undefined => {
  const file = readPart(join(folder, zone.name))
  const changes = file === undefined ? [] : changesIn(file)
  const from = Math.floor(now / 1_000)
  const until = from + WEEKS * WEEK
  const moments = Array.from({ length: WEEKS }, (_, n) => from + n * WEEK)
  const changing = changes.flatMap(({ at }) => (at > from && at < until ? [at - 1, at] : []))
  for (const at of [...moments, ...changing].toSorted((a, b) => a - b)) {
    const hosts = changes.findLast((change) => change.at <= at)?.offset ?? Number.NaN
    const minutes = (zone.offsetAt(at * 1_000) - hosts * 1_000) / MINUTE
    if (Number.isFinite(minutes) && minutes !== 0) return { name: zone.name, from: at * 1_000, minutes }
  }
  return undefined
}

/** The time zones of Node.js beside those of its machine. */
export interface ComparedZones {
  readonly version: string | undefined
  readonly hostVersion: string | undefined
  readonly differing: ReadonlyArray<DifferingZone>
}

/** Compares zones over the next year with those of the machine, as far as it has them (docs/policy.md#time-zones). */
export const compareZones = (names: Iterable<string>, now: number): ComparedZones => {
  const folder = folderOf(process.env)
  const zones = new Set(Array.from(names, timeZoneOf).filter((zone) => zone !== undefined))
  return {
    version: process.versions["tz"],
    hostVersion: hostVersion(folder),
    differing: Array.from(zones, (zone) => differenceOf(zone, folder, now)).filter(
      (found) => found !== undefined,
    ),
  }
}

const KEPT_MILLIS = 3_600_000

/** The zones that this process has read so far, compared at most once an hour. */
export const presentZones = () => {
  let kept: { readonly at: number; readonly found: ComparedZones } | undefined
  return (now: number): ComparedZones => {
    if (kept === undefined || Math.abs(now - kept.at) > KEPT_MILLIS)
      kept = { at: now, found: compareZones(zonesInUse(), now) }
    return kept.found
  }
}
