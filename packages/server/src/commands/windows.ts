import * as Instant from "@tocsin/contract/Instant"
import { compilePolicy } from "@tocsin/core/policy/compilePolicy"
import { nextOccurrences } from "@tocsin/core/policy/occurrences"
import { formatMatcher } from "@tocsin/contract/Matcher"
import { SHOWN_OCCURRENCES } from "@tocsin/core/usecases/Policies"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { type Column, tableText } from "../output/makeTable.ts"
import { Output } from "../output/Output.ts"
import { givenPolicy } from "../policy/givenPolicy.ts"
import { enabledNotifiers } from "../rules.ts"
import { act } from "./act.ts"
import { settingsOfCommand } from "./UseCases.ts"

interface Shown {
  readonly name: string
  readonly cron: string
  readonly tz: string
  readonly match: ReadonlyArray<string>
  readonly comment: string | undefined
  readonly occurrences: ReadonlyArray<{ readonly starts_at: string; readonly ends_at: string }>
}

interface Row {
  readonly name: string
  readonly starts_at: string
  readonly ends_at: string
  readonly comment: string | undefined
}

const COLUMNS: ReadonlyArray<Column<Row>> = [
  { title: "WINDOW", cell: ({ name }) => name },
  { title: "STARTS", cell: ({ starts_at }) => starts_at },
  { title: "ENDS", cell: ({ ends_at }) => ends_at },
  { title: "COMMENT", cell: ({ comment }) => comment ?? "", least: 16 },
]

/** The windows of the policy file of the settings. */
const windowsAt = Effect.fnUntraced(function* (now: Instant.Instant) {
  const settings = yield* settingsOfCommand
  const { SERVICE_POLICY_FILE: file } = settings
  if (file === undefined) return []
  const { policy } = yield* givenPolicy(file, enabledNotifiers(settings))
  return compilePolicy(policy, []).windows.map((window): Shown => {
    const { comment, cron, match, name, tz } = window
    const occurrences = nextOccurrences(window, now, SHOWN_OCCURRENCES).map(({ ends_at, starts_at }) => ({
      starts_at: Instant.format(starts_at),
      ends_at: Instant.format(ends_at),
    }))
    return { name, cron, tz, match: match.map(formatMatcher), comment, occurrences }
  })
})

/** `tocsin windows` */
export const windows = act({
  name: "windows",
  parameters: {},
  run: Effect.fnUntraced(function* () {
    const output = yield* Output
    const found = yield* windowsAt(yield* Instant.now)
    const rows = found.flatMap(({ comment, name, occurrences }) =>
      occurrences.map((occurrence): Row => ({ name, comment, ...occurrence })),
    )
    const table = () => tableText(COLUMNS, rows, output)
    const text = rows.length === 0 ? "the policy has no maintenance window\n" : table()
    return { answer: { windows: found }, text }
  }),
}).pipe(
  Command.withDescription(
    "List the maintenance windows of SERVICE_POLICY_FILE, each with the one in force and the next, five in all",
  ),
  Command.withShortDescription("List maintenance windows and their next times"),
)
