import { compileGlob } from "@tocsin/contract/compileGlob"
import { record, text } from "../config/Reader.ts"
import type { Fault } from "./Finding.ts"
import { newLines, savedPosition } from "./LogReader.ts"
import { absolutePath } from "./mounts.ts"
import type { Probe, SettingsOf } from "./Probe.ts"
import { oneOrMore, thresholdFields } from "./probeReaders.ts"
import { givenOr, thresholdsOf } from "./Range.ts"

const texts = oneOrMore(text({ max: 256 }), 100)

const reader = record({ file: absolutePath, match: texts, ignore: texts, ...thresholdFields }, [
  "file",
  "match",
])

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
export const log: Probe<SettingsOf<typeof reader>> = {
  title: "LOG",
  lane: "host",
  reader,
  run: async ({ file = "", match = [], ignore = [], warning, critical }, { clock, signal, note }) => {
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
    const said =
      matches === 0
        ? lines === 0
          ? `no new line in ${file}`
          : `no line of ${lines} matches in ${file}`
        : `${matches} of ${lines} lines match in ${file}: ${shown.join(", ")}`
    const words = [said, ...read.remarks].join("; ")
    const faults: ReadonlyArray<Fault> = read.isMissing
      ? [{ status: "unknown", words: `${file} does not exist` }]
      : []
    const thresholds = givenOr({ warning, critical }, OWN)
    return {
      words,
      faults,
      measures: [
        { label: "matches", value: matches, unit: "", thresholds, words },
        { label: "lines", value: lines, unit: "", words },
      ],
      note: JSON.stringify(read.position),
    }
  },
}
