import { compileGlob } from "@tocsin/contract/formats/compileGlob"
import { oneOrMore, record, text } from "../config/Reader.ts"
import { newLines, savedPosition } from "./LogReader.ts"
import { absolutePath, type Fault, probe } from "./Probe.ts"
import { givenOr, thresholdFields, thresholdsOf } from "./thresholds.ts"

const texts = oneOrMore(text({ max: 256 }), 100)

/** None at all. */
const OWN = thresholdsOf(undefined, "0")

const SHOWN_LINES = 3
const SHOWN_LINE = 200

/** Whether a line contains one of some texts, in which `*` and `?` stand for characters. Never backtracks. */
const containing = (written: ReadonlyArray<string>): ((line: string) => boolean) => {
  const all = written.map((one) => compileGlob(`*${one}*`))
  return (line) => all.some((matches) => matches(line))
}

/** The lines of a log since the last run that contain a text. */
export const log = probe(
  { name: "log", lane: "host" },
  record({ file: absolutePath, match: texts, ignore: texts, ...thresholdFields }, ["file", "match"]),
  async ({ file, match, ignore = [], ...limits }, { clock, signal, note }) => {
    const [isWanted, isIgnored] = [containing(match), containing(ignore)]
    const shown: Array<string> = []
    let [lines, matches] = [0, 0]
    const take = (line: string): void => {
      lines += 1
      if (!isWanted(line) || isIgnored(line)) return
      matches += 1
      if (shown.length < SHOWN_LINES) shown.push(JSON.stringify(line.slice(0, SHOWN_LINE).toWellFormed()))
    }
    const read = await newLines({ path: file, position: savedPosition(note, file), take, clock, signal })
    const none = lines === 0 ? `no new line in ${file}` : `no line of ${lines} matches in ${file}`
    const found = `${matches} of ${lines} lines match in ${file}: ${shown.join(", ")}`
    const words = [matches === 0 ? none : found, ...read.remarks].join("; ")
    const missing: Fault = { status: "unknown", words: `${file} does not exist` }
    return {
      words,
      faults: read.isMissing ? [missing] : [],
      measures: [
        { label: "matches", value: matches, unit: "", thresholds: givenOr(limits, OWN), words },
        { label: "lines", value: lines, unit: "", words },
      ],
      note: JSON.stringify(read.position),
    }
  },
)
