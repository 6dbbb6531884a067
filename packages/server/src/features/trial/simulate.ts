import * as Instant from "@tocsin/contract/formats/Instant"
import { NotifierKind, type NotifierName } from "@tocsin/contract/formats/Status"
import { compilePolicy, receiversGiven } from "@tocsin/core/heart/policy/compilePolicy"
import { simulate as simulateLines } from "@tocsin/simulation/simulate"
import {
  type SimulatedNotification,
  SimulationReport,
  type UnsentFiring,
} from "@tocsin/simulation/SimulationReport"
import { type Duration, Effect, FileSystem, Option, Schema, Stdio, Stream } from "effect"
import { Flag } from "effect/cli"
import { failure, usageFailure } from "../../CommandFailure.ts"
import { Output, writeResult } from "../../output/Output.ts"
import { type Column, plural, sectionsText, spanText, tableText, timeText } from "../../output/texts.ts"
import { drawTimeline } from "../../output/timeline.ts"
import { givenPolicy } from "../../policy/loadPolicy.ts"
import { receiversOutside } from "../../rules.ts"
import { command } from "../../commands/define.ts"
import type { Settings } from "../../settings/Settings.ts"
import * as flags from "../../commands/flags.ts"
import { settingsOfCommand } from "../../commands/UseCases.ts"

const encode = Schema.encodeSync(SimulationReport)

const STDIN = "-"
const NOTIFICATIONS_SHOWN = 100
const REFUSED_SHOWN = 5

const NOTIFICATIONS: ReadonlyArray<Column<SimulatedNotification>> = [
  { title: "AT", cell: ({ at }) => timeText(at) },
  { title: "NOTIFIER", cell: ({ notifier }) => notifier },
  { title: "EVENT", cell: ({ event_type }) => event_type, isState: true },
  { title: "CAUSE", cell: ({ cause }) => cause ?? "" },
  { title: "SEVERITY", cell: ({ severity }) => severity, isState: true },
  { title: "KEY", cell: ({ incident_key }) => incident_key, least: 16 },
  { title: "SUMMARY", cell: ({ summary }) => summary ?? "", least: 16 },
]

type Held = Partial<Pick<UnsentFiring, "held_by" | "held_for_seconds">>

const heldText = ({ held_by = [], held_for_seconds = 0 }: Held): string =>
  held_by.length === 0 ? "" : `${spanText(held_for_seconds)} (${held_by.join(", ")})`

/** With a policy or acts, each notification states its receiver, and what held it for how long. */
const DETAILED: ReadonlyArray<Column<SimulatedNotification>> = NOTIFICATIONS.flatMap((column) =>
  column.title === "NOTIFIER"
    ? [{ title: "RECEIVER", cell: ({ receiver = "" }) => receiver }]
    : column.title === "CAUSE"
      ? [column, { title: "HELD", cell: heldText }]
      : [column],
)

const REASONS: Readonly<Record<UnsentFiring["reason"], string>> = {
  resolved: "the incident resolved first",
  replaced: "a later firing took its place",
  still_held: "still held at the end",
}

const UNSENT: ReadonlyArray<Column<UnsentFiring>> = [
  { title: "UNTIL", cell: ({ at }) => timeText(at) },
  { title: "RECEIVER", cell: ({ receiver }) => receiver },
  { title: "CAUSE", cell: ({ cause }) => cause ?? "" },
  { title: "HELD", cell: heldText },
  { title: "SEVERITY", cell: ({ severity }) => severity, isState: true },
  { title: "KEY", cell: ({ incident_key }) => incident_key, least: 16 },
  { title: "NOT SENT BECAUSE", cell: ({ reason }) => REASONS[reason] },
]

/** The lines of a file, or of standard input. */
export const linesOf = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const { stdin } = yield* Stdio.Stdio
  const bytes = file === STDIN ? stdin : fs.stream(file)
  return yield* bytes.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runCollect,
    Effect.mapError(() => failure(`${file} cannot be read: check that it exists and is readable`)),
  )
})

const draw = (report: SimulationReport, output: Output["Service"]): string => {
  const { agents, results, incidents, notifications, unsent } = report
  const shown = notifications.slice(0, NOTIFICATIONS_SHOWN)
  const more = notifications.length - shown.length
  const unsentShown = (unsent ?? []).slice(0, NOTIFICATIONS_SHOWN)
  const unsentMore = (unsent ?? []).length - unsentShown.length
  return sectionsText([
    drawTimeline(report, output),
    shown.length === 0 ? "" : tableText(unsent === undefined ? NOTIFICATIONS : DETAILED, shown, output),
    more === 0 ? "" : `${plural(more, "more notification")}: --json shows all\n`,
    unsentShown.length === 0 ? "" : tableText(UNSENT, unsentShown, output),
    unsentMore === 0 ? "" : `${plural(unsentMore, "more firing")} not sent: --json shows all\n`,
    `${plural(incidents.length, "incident")} and ${plural(notifications.length, "notification")} ` +
      `from ${plural(results, "result")} of ${plural(agents, "agent")}` +
      (unsent === undefined ? "\n" : `; ${plural(unsent.length, "firing")} not sent\n`),
  ])
}

const NO_LABELS =
  "no line has a hostname or labels of an agent, so nothing matches what the policy compares with them: put a heartbeat of each agent first, or use tocsin policy try\n"

const noteRefused = Effect.fnUntraced(function* (refused: SimulationReport["refused"]) {
  const { note } = yield* Output
  for (const { line, reason } of refused.slice(0, REFUSED_SHOWN)) yield* note(`line ${line}: ${reason}\n`)
  if (refused.length > REFUSED_SHOWN) yield* note(`… ${refused.length} lines were skipped\n`)
})

interface Given {
  readonly notifier: ReadonlyArray<NotifierKind>
  readonly deadAfter: Option.Option<Duration.Duration>
  readonly until: Option.Option<Instant.Instant>
  readonly policy: string | undefined
}

/** The settings, overridden by the flags. */
export const simulationOf = Effect.fnUntraced(function* (
  given: Given,
  settings: Settings,
  elsewhere: ReadonlyArray<NotifierName> = [],
) {
  const ofSettings = receiversOutside(settings)
  const notifiers = given.notifier.length === 0 ? ofSettings.notifiers : given.notifier
  const outside = { ...ofSettings, notifiers, elsewhere }
  const loaded =
    given.policy === undefined
      ? { notifiers: receiversGiven({}, outside) }
      : yield* givenPolicy(given.policy, outside)
  return {
    ...loaded,
    acknowledgedFor: settings.SERVICE_ACK_FOR,
    longestAcknowledgement: settings.SERVICE_ACK_MAX,
    longestSilence: settings.SERVICE_SILENCE_MAX,
    staleAfter: settings.SERVICE_STALE_AFTER,
    deadAfter: Option.getOrElse(given.deadAfter, () => settings.SERVICE_DEAD_AFTER),
    until: Option.getOrUndefined(given.until),
  }
})

/** The receivers of a policy that defines none. */
export const notifier = Flag.Literals("notifier", NotifierKind.literals).pipe(
  Flag.withDescription(
    "Simulate this notifier, unless the policy defines receivers; may be repeated (default: those of the settings)",
  ),
  Flag.between(0, NotifierKind.literals.length),
)

export const simulate = command({
  name: "simulate",
  description:
    "Replay recorded results without a storage, and show the incidents and notifications that result.\n" +
    "  A line is the body of a heartbeat or of a batch with received_at beside its fields, an item of\n" +
    "  GET /api/v1/events/query, or a whole page of them. A line with received_at and incident_key may\n" +
    "  acknowledge the open incident of that key, or withdraw that; one with silence may add, extend or\n" +
    "  expire a silence, and one with override create or end one of a rota (docs/simulation.md).",
  short: "Replay recorded results: the incidents and notifications that result",
  examples: [
    "tocsin simulate history.jsonl --notifier webhook",
    "tocsin simulate history.jsonl --policy policy.yaml",
    {
      command:
        'curl -H "Authorization: Bearer $TOKEN" $URL/api/v1/events/query?limit=500 | tocsin simulate -',
      description: "The latest changes, with the current settings",
    },
  ],
  parameters: {
    file: flags.argument("FILE", "JSON lines as described above; - reads standard input"),
    notifier,
    deadAfter: flags
      .duration("dead-after", "Use this instead of SERVICE_DEAD_AFTER: 90s, 5m, 12h")
      .pipe(Flag.optional),
    policy: flags
      .text("policy", "Follow this policy (default: every receiver is notified immediately)")
      .pipe(Flag.withMetavar("FILE")),
    until: Flag.String("until").pipe(
      Flag.withDescription("End the simulation at this moment (default: the last receipt)"),
      Flag.withSchema(Instant.InstantFromString),
      Flag.optional,
    ),
    json: flags.json,
  },
  run: Effect.fnUntraced(function* ({ file, json, ...given }) {
    const output = yield* Output
    const settings = yield* simulationOf(given, yield* settingsOfCommand)
    const lines = yield* linesOf(file)
    const report = simulateLines(lines, settings)
    if (!json) yield* noteRefused(report.refused)
    const { holdsReadAgents, routesReadAgents } = compilePolicy(
      "policy" in settings ? settings.policy : {},
      settings.notifiers,
    )
    if ((holdsReadAgents || routesReadAgents) && !lines.some((line) => line.includes('"hostname"')))
      yield* output.note(NO_LABELS)
    if (report.from === null && report.refused.length > 0)
      return yield* usageFailure(
        `${file} contains no line to simulate: see tocsin simulate --help for the formats`,
      )
    yield* writeResult(json, encode(report), () => draw(report, output))
  }),
})
