import * as Instant from "@tocsin/contract/formats/Instant"
import { formatMatcher } from "@tocsin/contract/labels/matcherText"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { shownPolicies, withOccurrences } from "@tocsin/core/heart/usecases/shownPolicy"
import { Effect } from "effect"
import { Output, writeResult } from "../output/Output.ts"
import { type Column, tableText, timeText } from "../output/texts.ts"
import { givenPolicy } from "../policy/loadPolicy.ts"
import { receiversOutside } from "../rules.ts"
import { command } from "./define.ts"
import * as flags from "./flags.ts"
import { portsOfCommand, settingsOfCommand } from "./UseCases.ts"

interface Occurrence extends Record<"name" | "starts_at" | "ends_at", string> {
  readonly comment: string | undefined
}

const OCCURRENCES: ReadonlyArray<Column<Occurrence>> = [
  { title: "WINDOW", cell: ({ name }) => name },
  { title: "STARTS", cell: ({ starts_at }) => starts_at },
  { title: "ENDS", cell: ({ ends_at }) => ends_at },
  { title: "COMMENT", cell: ({ comment }) => comment ?? "", least: 16 },
]

/** The windows that servers with these settings follow. The secrets that their file names stay unopened. */
const windowsInForce = Effect.gen(function* () {
  const settings = yield* settingsOfCommand
  const { SERVICE_POLICY_FILE: file } = settings
  if (file === undefined)
    return (yield* Effect.provide(
      Effect.flatMap(shownPolicies, (shown) => shown.windows),
      portsOfCommand,
    )).items
  const { policy } = yield* givenPolicy(file, receiversOutside(settings))
  return withOccurrences(compilePolicy(policy, []).windows, yield* Instant.now)
})

export const windows = command({
  name: "windows",
  description:
    "List the maintenance windows of the policy, each with the one in force and the next, five in all",
  short: "List maintenance windows and their next times",
  parameters: { json: flags.json },
  run: Effect.fnUntraced(function* ({ json }) {
    const output = yield* Output
    const found = (yield* windowsInForce).map(({ at, comment, cron, match, name, occurrences, tz }) => ({
      name,
      cron,
      at,
      tz,
      match: match.map(formatMatcher),
      comment,
      occurrences: occurrences.map(({ ends_at, starts_at }) => ({ starts_at, ends_at })),
    }))
    const rows = found.flatMap(({ comment, name, occurrences }) =>
      occurrences.map(({ ends_at, starts_at }) => ({
        name,
        comment,
        starts_at: timeText(starts_at),
        ends_at: timeText(ends_at),
      })),
    )
    yield* writeResult(json, { windows: found }, () =>
      rows.length === 0 ? "the policy has no maintenance window\n" : tableText(OCCURRENCES, rows, output),
    )
  }),
})
