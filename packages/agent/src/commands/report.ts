import { once } from "node:events"
import { CapturedStream } from "../checks/runCommand.ts"
import type { CapturedText } from "../checks/RunOutcome.ts"
import { withoutTrailing } from "@tocsin/contract/withoutTrailing"
import type { CheckStatus } from "@tocsin/reporting/agent/CheckReport"
import { indexOfSecond, readOptions, UsageError } from "./options.ts"
import { incidentKeyOf, requireCheckId, spoolReport } from "./spoolReport.ts"

/** By exit code. */
const STATUSES: ReadonlyArray<CheckStatus> = ["ok", "warning", "critical", "unknown"]

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

/** The text of a result, apart from what may be options. */
interface SplitText {
  readonly head: ReadonlyArray<string>
  readonly text: ReadonlyArray<string>
  /** The text is `-`: it comes from standard input. */
  readonly isInput: boolean
}

/** The text is all that follows `--`, or else the last argument after the status, whatever it begins with. */
const splitText = (argv: ReadonlyArray<string>): SplitText => {
  const split = argv.indexOf("--")
  if (split >= 0) return { head: argv.slice(0, split), text: argv.slice(split + 1), isInput: false }
  const status = indexOfSecond(argv)
  const head = status < argv.length - 1 ? argv.slice(0, -1) : argv
  const text = argv.slice(head.length)
  return { head, text, isInput: text[0] === "-" && status === head.length - 1 }
}

/** Reads standard input to its end, and keeps its beginning. */
const readInput = async (): Promise<CapturedText> => {
  const stream = new CapturedStream(process.stdin)
  await once(process.stdin, "close")
  const { text, droppedBytes } = stream.captured()
  return { text: withoutTrailing(text, "\r\n"), droppedBytes }
}
