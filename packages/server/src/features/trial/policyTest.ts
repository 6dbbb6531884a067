import { plainLine } from "@tocsin/contract/formats/plainLine"
import { type JudgedExpectation, SimulationReport } from "@tocsin/simulation/SimulationReport"
import { simulate } from "@tocsin/simulation/simulate"
import { Effect, Option, Result, Schema, Struct } from "effect"
import { Argument, Flag } from "effect/cli"
import { failure } from "../../CommandFailure.ts"
import { writeResult } from "../../output/Output.ts"
import { plural, sectionsText, timeText } from "../../output/texts.ts"
import { isOfLacked } from "@tocsin/core/heart/policy/readPolicy"
import { BadPolicy } from "../../policy/loadPolicy.ts"
import { commandSettings } from "../../settings/checkedSettings.ts"
import { settingsOfCommand } from "../../commands/UseCases.ts"
import { command } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"
import { liveReceivers } from "../receivers/liveReceivers.ts"
import { linesOf, notifier, simulationOf } from "./simulate.ts"

interface TestPoint {
  readonly file: string
  readonly line: number
  readonly name: string
  /** Why it fails; absent if it holds. */
  readonly failure?: string
}

const hasFailed = (point: TestPoint): boolean => point.failure !== undefined

/** For people: a line each, with the reason below a failed one. */
const peopleText = (points: ReadonlyArray<TestPoint>, summary: string): string =>
  sectionsText([
    points
      .map(({ failure: reason, file, line, name }) =>
        reason === undefined
          ? `pass  ${plainLine(`${file}:${line}  ${name}`)}\n`
          : `FAIL  ${plainLine(`${file}:${line}  ${name}`)}\n      ${plainLine(reason)}\n`,
      )
      .join(""),
    `${summary}\n`,
  ])

/** https://testanything.org/tap-version-14-specification.html */
const tapText = (points: ReadonlyArray<TestPoint>): string => {
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
  `tests="${points.length}" failures="${points.filter(hasFailed).length}"`

/** The XML of JUnit, as systems of continuous integration read it: a suite for each file. */
const junitText = (points: ReadonlyArray<TestPoint>, name: string): string => {
  const files = Array.from(new Set(points.map(({ file }) => file)))
  const cases = ({ failure: reason, file, line, name: of }: TestPoint) => {
    const opening = `    <testcase classname=${attribute(file)} name=${attribute(`line ${line}: ${of}`)}`
    return reason === undefined
      ? `${opening}/>\n`
      : `${opening}>\n      <failure message=${attribute(reason)}/>\n    </testcase>\n`
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

const encode = Schema.encodeSync(SimulationReport)

interface PlayedFile {
  readonly file: string
  readonly report: SimulationReport
}

const nameOf = ({ cause, count, event, from, incident_key, kind, receiver, until }: JudgedExpectation) =>
  [kind, count, receiver, event, cause, incident_key].filter((part) => part !== undefined).join(" ") +
  ` from ${timeText(from)} until ${timeText(until)}`

const MESSAGES_SHOWN = 5

const failureOf = ({ messages, receiver }: JudgedExpectation, { report }: PlayedFile): string => {
  const got = report.notifications.filter((sent) => sent.receiver === receiver)
  const shown = got
    .slice(0, MESSAGES_SHOWN)
    .map(({ at, cause, event_type, incident_key }) =>
      [event_type, cause, incident_key, "at", timeText(at)].filter((part) => part !== null).join(" "),
    )
  const more = got.length - shown.length
  const list = (shown.length === 0 ? "none" : shown.join(", ")) + (more === 0 ? "" : ` and ${more} more`)
  return `found ${plural(messages, "message")}; ${receiver} got ${list}`
}

/** A skipped line fails as an expectation does: the story that its author meant was not played. */
const pointsOf = (story: PlayedFile): ReadonlyArray<TestPoint> => {
  const { file, report } = story
  const { expectations = [], refused } = report
  const points: ReadonlyArray<TestPoint> = [
    ...expectations.map((each) => ({
      file,
      line: each.line,
      name: nameOf(each),
      ...(!each.holds && { failure: failureOf(each, story) }),
    })),
    ...refused.map(({ line, reason }) => ({
      file,
      line,
      name: "a line that can be played",
      failure: reason,
    })),
  ]
  const message = "the story expects nothing: add a line with expect, expect_none or expect_at_most"
  return points.length > 0
    ? points.toSorted((a, b) => a.line - b.line)
    : [{ file, line: 1, name: "an expectation", failure: message }]
}

/** A story has one outcome in every shell: the defaults of these settings count. */
const TIMES = Struct.pick(Result.getOrThrow(commandSettings({})), [
  "SERVICE_ACK_FOR",
  "SERVICE_ACK_MAX",
  "SERVICE_DEAD_AFTER",
  "SERVICE_SILENCE_MAX",
  "SERVICE_STALE_AFTER",
])

/** Whether a policy fails because this shell lacks a receiver that it names, which a live server may give. */
const isLacking = (reason: unknown): reason is BadPolicy =>
  reason instanceof BadPolicy && reason.issues.some(isOfLacked)

const ADVICE =
  "set SERVICE_EXTENSIONS if a module gives it, or, in a policy without receivers, name each that the settings of your servers give, such as --notifier messenger"

export const testPolicy = command({
  name: "test",
  description:
    "Play stories by a policy, and compare the messages with what the stories expect (docs/policy.md).\n" +
    "  Opens no file and no variable that the policy names, and the storage only to find a receiver that this shell\n" +
    "  lacks. Whatever the settings, times such as that after which an agent is dead are the defaults. Exit code 1\n" +
    "  if an expectation fails.",
  short: "Test a policy by stories",
  examples: ["tocsin policy test stories/*.jsonl --policy policy.yaml --format junit"],
  parameters: {
    files: flags
      .argument("FILE", "A story: lines of tocsin simulate, and expectations; - reads standard input")
      .pipe(Argument.variadic({ min: 1 })),
    policy: flags
      .text("policy", "Test this policy (default: that of SERVICE_POLICY_FILE)")
      .pipe(Flag.withMetavar("FILE")),
    notifier,
    deadAfter: flags
      .duration("dead-after", "Agents are dead after this: 90s, 5m, 12h (default: 5m)")
      .pipe(Flag.optional),
    staleAfter: flags
      .duration("stale-after", "Agents are stale after this (default: 2m)")
      .pipe(Flag.optional),
    format: flags.choice("format", ["text", "tap", "junit"], "Write for people, or as TAP or JUnit"),
    json: flags.json,
  },
  run: Effect.fnUntraced(function* ({
    files,
    format,
    json,
    deadAfter,
    staleAfter,
    notifier: kinds,
    policy: given,
  }) {
    const policy = given ?? (yield* settingsOfCommand).SERVICE_POLICY_FILE
    const simulated = { notifier: kinds, policy, deadAfter, until: Option.none() }
    const ofShell = yield* settingsOfCommand
    const timed = {
      ...ofShell,
      ...TIMES,
      ...(Option.isSome(staleAfter) && { SERVICE_STALE_AFTER: staleAfter.value }),
    }
    const settings = yield* Effect.catchIf(simulationOf(simulated, timed), isLacking, () =>
      Effect.flatMap(
        Effect.orElseSucceed(liveReceivers(ofShell), () => []),
        (elsewhere) => simulationOf(simulated, timed, elsewhere),
      ),
    ).pipe(
      Effect.catchIf(isLacking, ({ file, issues }) =>
        Effect.fail(new BadPolicy({ file, issues, advice: ADVICE })),
      ),
    )
    const stories = yield* Effect.forEach(files, (file) =>
      Effect.map(linesOf(file), (lines): PlayedFile => ({ file, report: simulate(lines, settings) })),
    )
    const points = stories.flatMap(pointsOf)
    const failed = points.filter(hasFailed).length
    const all = plural(points.length, "expectation")
    const result = {
      policy: policy ?? null,
      holds: failed === 0,
      stories: stories.map(({ file, report }) => {
        const { expectations = [], notifications, refused } = encode(report)
        return { file, expectations, refused, notifications }
      }),
    }
    yield* writeResult(json, result, () => {
      if (format === "tap") return tapText(points)
      if (format === "junit") return junitText(points, "tocsin policy test")
      return peopleText(points, `${points.length - failed} of ${all} hold by ${policy ?? "no policy"}`)
    })
    if (failed === 0) return
    return yield* failure(`the policy fails its test: ${failed} of ${all}`)
  }),
})
