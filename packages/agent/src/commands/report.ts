import { withoutTrailing } from "@tocsin/contract/formats/withoutTrailing"
import type { CheckReport } from "@tocsin/reporting/agent/CheckReport"
import { correctedNow, type TimeMark } from "@tocsin/reporting/agent/ServerTime"
import { once } from "node:events"
import { CapturedStream, STATUSES } from "../checks/runCommand.ts"
import { systemClock } from "../clock/Clock.ts"
import { idText, incidentKey as incidentKeyReader } from "../config/configFields.ts"
import { type CheckConfig, readConfig } from "../config/readConfig.ts"
import { keep, takeHanded } from "../jobs/handOver.ts"
import { savedMark } from "../spool/savedNote.ts"
import { SpoolFile } from "../spool/SpoolFile.ts"
import { actAsOwner, makeStateFolder, spoolPath } from "../spool/StateFolder.ts"
import { type CommandOptions, indexOfSecond, readOptions, UsageError, valueOf } from "./commandLine.ts"

/** `tocsin-agent report CHECK STATUS [TEXT]`: keeps a result for the server. */
export const report = async (argv: ReadonlyArray<string>): Promise<number> => {
  const { head, text, isInput } = splitText(argv)
  const options = readOptions(head, ["incident-key"])
  const [id, given = "", ...words] = options.args
  const checkId = requireCheckId(id)
  const exitCode = STATUSES.findIndex((status, code) => given === status || given === String(code))
  const status = STATUSES[exitCode]
  if (status === undefined)
    throw new UsageError(`the status must be one of ${STATUSES.join(", ")}, or a code from 0 to 3`)
  const incidentKey = incidentKeyOf(options)
  const said = isInput ? await readInput() : { text: [...words, ...text].join(" "), droppedBytes: 0 }
  const { text: output, droppedBytes } = said
  spoolReport(options, { checkId, status, exitCode, durationMillis: 0, output, droppedBytes, incidentKey })
  return 0
}

/**
 * The text of a result, apart from what may be options: all that follows `--`, or else the last argument
 * after the status, whatever it begins with. For `-`, it comes from standard input.
 */
const splitText = (argv: ReadonlyArray<string>) => {
  const split = argv.indexOf("--")
  if (split >= 0) return { head: argv.slice(0, split), text: argv.slice(split + 1), isInput: false }
  const status = indexOfSecond(argv)
  const head = status < argv.length - 1 ? argv.slice(0, -1) : argv
  const text = argv.slice(head.length)
  return { head, text, isInput: text[0] === "-" && status === head.length - 1 }
}

/** Reads standard input to its end, and keeps its beginning. */
const readInput = async () => {
  const stream = new CapturedStream(process.stdin)
  await once(process.stdin, "close")
  const { text, droppedBytes } = stream.captured()
  return { text: withoutTrailing(text, "\r\n"), droppedBytes }
}

/** Where a command finds the configuration and the spool. */
type Place = Pick<CommandOptions, "config" | "state">

/** Refuses an ID that the server would refuse. */
export const requireCheckId = (id: string | undefined): string => {
  if (id === undefined) throw new UsageError("name the check")
  return valueOf(idText, `the check ${JSON.stringify(id)}`, id)
}

export const incidentKeyOf = ({ "incident-key": key }: CommandOptions): string | undefined =>
  key === undefined ? undefined : valueOf(incidentKeyReader, "--incident-key", key)

/** A check as it is configured, if it is. A result is worth more than a valid configuration. */
export const configuredCheck = ({ config: file }: Place, checkId: string): CheckConfig | undefined =>
  readConfig(file).config?.checks.get(checkId)

/** The terms of a check's result by the configuration. */
export const decideTerms = (
  place: Place,
  { checkId, incidentKey: given }: Pick<CheckReport, "checkId" | "incidentKey">,
): Pick<CheckReport, "notificationsEnabled" | "incidentKey"> => {
  const { notificationsEnabled = true, incidentKey } = configuredCheck(place, checkId) ?? {}
  return { notificationsEnabled, incidentKey: given ?? incidentKey }
}

/** Does something with the spool of an agent that may or may not run, at the time that `mark` corrects. */
export const withSpool = <A>(
  state: string,
  work: (file: SpoolFile, at: number, mark: TimeMark | undefined) => A,
): A => {
  takeHanded(spoolPath(state))
  using file = SpoolFile.open(spoolPath(state))
  const mark = savedMark(file.notes().get("time_mark"), systemClock.sinceBoot())
  return work(file, correctedNow(mark, systemClock), mark)
}

/** Keeps a report for the server; of a run, with its end. Throws where it cannot be kept. */
export const spoolReport = (
  place: Place,
  bare: Omit<CheckReport, "notificationsEnabled">,
  run?: string,
): void => {
  const complete: CheckReport = { ...bare, ...decideTerms(place, bare) }
  const isDeclared = configuredCheck(place, bare.checkId) !== undefined
  makeStateFolder(place.state)
  actAsOwner(place.state)
  keep(spoolPath(place.state), { report: complete, isDeclared, ...(run !== undefined && { run }) })
}
