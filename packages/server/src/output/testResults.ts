import { plainLine } from "@tocsin/contract/plainLine"
import { sectionsText } from "./texts.ts"

/** One thing that a test of a story found. */
export interface TestPoint {
  readonly file: string
  readonly line: number
  readonly name: string
  /** Why it fails; absent if it holds. */
  readonly failure?: string
}

/** For people: a line each, with the reason below a failed one. */
export const peopleText = (points: ReadonlyArray<TestPoint>, summary: string): string =>
  sectionsText([
    points
      .map(({ failure, file, line, name }) =>
        failure === undefined
          ? `pass  ${plainLine(`${file}:${line}  ${name}`)}\n`
          : `FAIL  ${plainLine(`${file}:${line}  ${name}`)}\n      ${plainLine(failure)}\n`,
      )
      .join(""),
    `${summary}\n`,
  ])

/** https://testanything.org/tap-version-14-specification.html */
export const tapText = (points: ReadonlyArray<TestPoint>): string => {
  const described = ({ file, line, name }: TestPoint) =>
    plainLine(`${file}:${line} ${name}`).replaceAll(/[\\#]/g, String.raw`\$&`)
  const lines = points.flatMap((point, n) =>
    point.failure === undefined
      ? [`ok ${n + 1} - ${described(point)}`]
      : [
          `not ok ${n + 1} - ${described(point)}`,
          "  ---",
          `  message: ${JSON.stringify(plainLine(point.failure))}`,
          "  ...",
        ],
  )
  return ["TAP version 14", `1..${points.length}`, ...lines, ""].join("\n")
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

// XML has no characters U+FFFE and U+FFFF.
const attribute = (text: string): string =>
  `"${plainLine(text)
    .replaceAll(/[\ufffe\uffff]/g, "\ufffd")
    .replaceAll(/[&<>"]/g, (each) => ENTITIES[each] ?? "")}"`

const counts = (points: ReadonlyArray<TestPoint>): string =>
  `tests="${points.length}" failures="${points.filter(({ failure }) => failure !== undefined).length}"`

/** The XML of JUnit, as systems of continuous integration read it: a suite for each file. */
export const junitText = (points: ReadonlyArray<TestPoint>, name: string): string => {
  const files = Array.from(new Set(points.map(({ file }) => file)))
  const cases = ({ failure, file, line, name: of }: TestPoint) => {
    const opening = `    <testcase classname=${attribute(file)} name=${attribute(`line ${line}: ${of}`)}`
    return failure === undefined
      ? `${opening}/>\n`
      : `${opening}>\n      <failure message=${attribute(failure)}/>\n    </testcase>\n`
  }
  return [
    `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name=${attribute(name)} ${counts(points)}>\n`,
    ...files.map((file) => {
      const of = points.filter((point) => point.file === file)
      return `  <testsuite name=${attribute(file)} ${counts(of)}>\n${of.map(cases).join("")}  </testsuite>\n`
    }),
    "</testsuites>\n",
  ].join("")
}
