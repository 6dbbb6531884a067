import { parsedJson } from "@tocsin/reporting/agent/Answer"
import { type CheckReport, keptReport, newEventId } from "@tocsin/reporting/agent/CheckReport"
import type { PendingResult } from "@tocsin/reporting/agent/ResultQueue"
import { correctedNow } from "@tocsin/reporting/agent/ServerTime"
import * as fs from "node:fs"
import { dirname, join } from "node:path"
import { STATUSES } from "../checks/runCommand.ts"
import { systemClock } from "../clock/Clock.ts"
import { idText, incidentKey } from "../config/configFields.ts"
import { codeOf, flag, integer, oneOf, type ReadBy, type Reader, record, refused } from "../config/Reader.ts"
import { bootId, savedMark } from "../spool/savedNote.ts"
import { type RejectedResult, type SpoolChange, SpoolFile } from "../spool/SpoolFile.ts"
import { isGuest } from "../spool/StateFolder.ts"
import { JOBS_NOTE, jobsNote, reportedNotes } from "./StartedJob.ts"

const string: Reader<string> = (value, place) =>
  typeof value === "string" ? value : refused(place, "must be a text")

/** The last moment of a `Date`. */
const LATEST = 8.64e15

const number: Reader<number> = (value, place) =>
  typeof value === "number" && Math.abs(value) < LATEST ? value : refused(place, "must be a number")

/** A report, or the note of a run that starts, as a command keeps it. Any member of the group can have written it. */
const kept = record(
  {
    /** The moment by both clocks. */
    wall: number,
    sinceBoot: number,
    boot: string,
    report: record(
      {
        checkId: idText,
        status: oneOf(...STATUSES),
        exitCode: integer({ min: 0, max: 255 }),
        durationMillis: number,
        output: string,
        isCut: flag,
        notificationsEnabled: flag,
        incidentKey,
      },
      ["checkId", "status", "exitCode", "durationMillis", "output", "notificationsEnabled"],
    ),
    /** The run that starts, or that the report ends, and what the spool remembers of one that starts. */
    run: string,
    note: string,
    /** Whether the configuration has the check. */
    isDeclared: flag,
  },
  ["wall", "sinceBoot", "boot"],
)
type Kept = ReadBy<typeof kept>

/** The change of the spool. The server's time corrects the report's, unless the host has booted since. */
const changeOf = ({ wall, sinceBoot, boot, ...kind }: Kept, notes: ReadonlyMap<string, string>) => {
  const { report, run, note, isDeclared } = kind
  if (report === undefined)
    return { add: [], notes: new Map(run?.startsWith("run ") && note ? [[run, note]] : []) }
  const mark = boot === bootId() ? savedMark(notes.get("time_mark"), systemClock.sinceBoot()) : undefined
  const at = correctedNow(mark, { ...systemClock, wall: () => wall, sinceBoot: () => sinceBoot })
  const changed = run === undefined ? new Map<string, string>() : reportedNotes(notes, run)
  if (run !== undefined && isDeclared) changed.set(JOBS_NOTE, jobsNote(notes.get(JOBS_NOTE), report.checkId))
  return { add: [{ report, id: newEventId(at), at, isServerTime: mark !== undefined }], notes: changed }
}

/**
 * Keeps a report, or the start of a run. A user to whom the spool's folder does not belong hands it over as a file:
 * where `fs.protected_regular` is 2, nobody else could open a spool that such a user made.
 */
export const keep = (
  path: string,
  { report, ...kind }: Pick<Kept, "run" | "note" | "isDeclared"> & { readonly report?: CheckReport },
): void => {
  const all = { wall: systemClock.wall(), sinceBoot: systemClock.sinceBoot(), boot: bootId(), ...kind }
  const whole: Kept = report === undefined ? all : { ...all, report: keptReport(report) }
  if (isGuest(path)) return handOver(path, whole)
  takeHanded(path)
  using file = SpoolFile.open(path)
  file.decide((notes) => changeOf(whole, notes))
}

/** More than a week of a job that runs every minute. */
const MOST = 10_000
const NAME = /^handed-(\w+)-(\d{15})-([\da-f-]{36})\.json$/
const placeOf = (boot: string): string => boot.slice(0, 8).replaceAll(/\W/g, "_")
const SETGID = 0o2000

const handOver = (path: string, whole: Kept): void => {
  if (handedFiles(path).length >= MOST)
    throw new Error(`${MOST} results wait beside ${path}: start the agent, which takes them in`)
  const { wall, sinceBoot, boot } = whole
  const folder = dirname(path)
  const since = String(Math.floor(sinceBoot)).padStart(15, "0")
  const name = join(folder, `handed-${placeOf(boot)}-${since}-${newEventId(wall)}`)
  const isOfGroup = (fs.statSync(folder).mode & SETGID) !== 0
  const descriptor = fs.openSync(`${name}.new`, "wx", 0o600)
  try {
    fs.writeFileSync(descriptor, JSON.stringify(whole))
    // For the owner of the folder.
    fs.fchmodSync(descriptor, isOfGroup ? 0o640 : 0o644)
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
  fs.renameSync(`${name}.new`, `${name}.json`)
  const opened = fs.openSync(folder, "r")
  fs.fsyncSync(opened)
  fs.closeSync(opened)
}

/** In the order in which they were handed over: those of former boots first. */
const handedFiles = (path: string): ReadonlyArray<string> => {
  const current = placeOf(bootId())
  const placed = fs.readdirSync(dirname(path), { withFileTypes: true }).flatMap((one) => {
    const [, boot, since = "", id = ""] = NAME.exec(one.name) ?? []
    if (boot === undefined || one.isDirectory()) return []
    return [{ file: join(dirname(path), one.name), place: boot === current ? `1${since}${id}` : `0${id}` }]
  })
  return placed.toSorted((a, b) => (a.place < b.place ? -1 : 1)).map(({ file }) => file)
}

/** An output of 8 KiB, each byte of it escaped. */
const LARGEST_BYTES = 128 * 1_024
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants

/** The content of a file, or why it is refused. */
const readHanded = (file: string): Kept | string => {
  let text
  try {
    const descriptor = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const found = fs.fstatSync(descriptor)
      if (!found.isFile() || found.size > LARGEST_BYTES) return "is no result of tocsin-agent report"
      text = fs.readFileSync(descriptor, "utf8")
    } finally {
      fs.closeSync(descriptor)
    }
  } catch (error) {
    if (!["EACCES", "ELOOP", "ENXIO"].includes(codeOf(error))) throw error
    return `cannot be read (${codeOf(error)})`
  }
  const problems: Array<string> = []
  const refuse = (message: string, path: ReadonlyArray<unknown> = []) =>
    void problems.push(`${path.join(".")} ${message}`)
  const read = kept(parsedJson(text), { path: [], refuse })
  return read === undefined || problems.length > 0 ? problems.join(", ") : read
}

/** The changes of several files, each after those before it. */
const changeOfAll = (files: ReadonlyArray<string>, before: ReadonlyMap<string, string>) => {
  const notes = new Map<string, string>()
  const add: Array<PendingResult> = []
  const reject: Array<RejectedResult> = []
  for (const file of files) {
    const read = readHanded(file)
    const at = systemClock.wall()
    if (typeof read === "string")
      reject.push({ id: newEventId(at), checkId: "", body: file, reason: read, at })
    else {
      const change = changeOf(read, new Map([...before, ...notes]))
      add.push(...change.add)
      for (const [name, text] of change.notes) notes.set(name, text)
    }
  }
  const counts = new Map(reject.length === 0 ? [] : [["rejected", reject.length]])
  return { add, reject, notes, counts } satisfies SpoolChange
}

const TOGETHER = 100

/** Takes in what other users have handed over. A file goes only once the spool has what it says. */
export const takeHanded = (path: string): void => {
  if (!fs.existsSync(dirname(path)) || isGuest(path)) return
  for (let files = handedFiles(path); files.length > 0; files = handedFiles(path)) {
    const folder = dirname(path)
    if (![0, fs.statSync(folder).uid].includes(process.geteuid?.() ?? 0))
      throw new Error(`${folder} has to belong to the user of the agent: chown it`)
    const taken = files.slice(0, TOGETHER)
    using file = SpoolFile.open(path)
    file.decide((notes) => changeOfAll(taken, notes))
    for (const one of taken) fs.rmSync(one, { force: true })
  }
}

/** The notes of a spool with what waits to be taken in, for those who may only read it. */
export const notesWithHanded = (path: string): ReadonlyMap<string, string> => {
  let notes: ReadonlyMap<string, string> = new Map()
  if (fs.existsSync(path)) {
    using file = SpoolFile.open(path)
    notes = file.notes()
  }
  return new Map([...notes, ...changeOfAll(handedFiles(path), notes).notes])
}
