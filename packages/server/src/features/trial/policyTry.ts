import { isEmptyPolicy } from "@tocsin/contract/policy/PolicyDocument"
import { type PolicyNotifiers, receiversGiven } from "@tocsin/core/heart/policy/compilePolicy"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { HeldCount, TriedReceiver } from "@tocsin/contract/trial/PolicyTrial"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { policyTrial } from "@tocsin/core/features/trial/PolicyTrials"
import { Duration, Effect } from "effect"
import { usageFailure } from "../../CommandFailure.ts"
import { placeOfSettings, requireSchema } from "../../storage.ts"
import { Output, writeResult } from "../../output/Output.ts"
import { type Column, countText, plural, sectionsText, tableText, timeText } from "../../output/texts.ts"
import { withProgress } from "../../output/withProgress.ts"
import { givenPolicy } from "../../policy/loadPolicy.ts"
import { tryOnHistory } from "@tocsin/simulation/tryOnHistory"
import { policyNotifiers } from "../../rules.ts"
import type { Settings } from "../../settings/Settings.ts"
import { command } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"
import { liveReceivers } from "../receivers/liveReceivers.ts"
import { portsOfCommand, settingsOfCommand } from "../../commands/UseCases.ts"

const RECEIVERS: ReadonlyArray<Column<TriedReceiver>> = [
  { title: "RECEIVER", cell: ({ receiver }) => receiver },
  { title: "IN FORCE", cell: ({ in_force }) => countText(in_force), align: "right" },
  { title: "TRIED", cell: ({ tried }) => countText(tried), align: "right" },
]

const OUTCOMES: Readonly<Record<HeldCount["outcome"], string>> = {
  sent: "sent later",
  resolved: "not sent: the incident resolved first",
  replaced: "not sent: a later firing took its place",
  still_held: "still held",
}

const HELD: ReadonlyArray<Column<HeldCount>> = [
  { title: "RECEIVER", cell: ({ receiver }) => receiver },
  { title: "HELD BY", cell: ({ held_by }) => held_by.join(", ") },
  { title: "FIRINGS", cell: ({ firings }) => countText(firings), align: "right" },
  { title: "OUTCOME", cell: ({ outcome }) => OUTCOMES[outcome] },
]

/** The policy in force by the settings, if they name a file, and its name for people. */
const policyOfFile = Effect.fnUntraced(function* (settings: Settings, given: PolicyNotifiers) {
  const { SERVICE_POLICY_FILE: file } = settings
  if (file === undefined) return undefined
  return { name: file, ...(yield* givenPolicy(file, { ...given, watchProblem: undefined })) }
})

/** The policy that servers without a file follow. */
const storedPolicy = Effect.fnUntraced(function* (given: PolicyNotifiers) {
  const { document: policy } = yield* Effect.provide(
    PolicyInForce.useSync((inForce) => inForce.current()),
    portsOfCommand,
  )
  const name = isEmptyPolicy(policy) ? "no policy" : "the stored policy"
  return { name, policy, notifiers: receiversGiven(policy, given) }
})

const compare = Effect.fnUntraced(function* (file: string, from: Instant.Instant, asLines: boolean) {
  const settings = yield* settingsOfCommand
  const place = placeOfSettings(settings)
  const elsewhere = place === undefined ? [] : yield* Effect.orElseSucceed(liveReceivers(settings), () => [])
  const given = { ...policyNotifiers(settings), elsewhere }
  const ofFile = yield* policyOfFile(settings, given)
  const tried = yield* givenPolicy(file, given)
  if (place === undefined)
    return yield* usageFailure(
      `with ${settings.DATABASE_URL === undefined ? "a storage of a module" : "DATABASE_URL=memory"}: the history exists only in the server's process; use tocsin simulate --policy with lines of its API instead`,
    )
  yield* requireSchema(place)
  const inForce = ofFile ?? (yield* storedPolicy(given))
  const until = yield* Instant.now
  const counted = yield* withProgress({ asLines }, ({ report }) =>
    place.withSource((source) =>
      tryOnHistory(source, {
        inForce,
        tried,
        since: from,
        until,
        staleAfter: settings.SERVICE_STALE_AFTER,
        report: (piece) => report({ ...piece, of: "results" }),
      }),
    ),
  )
  return policyTrial(counted, { name: inForce.name, since: from, until })
})

type Comparison = Effect.Success<ReturnType<typeof compare>>

const draw = (comparison: Comparison, output: Output["Service"]): string => {
  const { history_from, in_force, messages, receivers, results, since, until, unknown, held } = comparison
  return sectionsText([
    `${plural(messages.tried, "message")} instead of ${countText(messages.in_force)} ` +
      `from ${timeText(since)} to ${timeText(until)}\n`,
    receivers.length === 0 ? "" : tableText(RECEIVERS, receivers, output),
    held.length === 0 ? "" : tableText(HELD, held, output),
    `In force: ${in_force}. ${countText(results)} stored results` +
      (history_from !== null && history_from > since ? `, the oldest of ${timeText(history_from)}\n` : "\n"),
    `Not known from the tables:\n${unknown.map((line) => `- ${line}\n`).join("")}`,
  ])
}

export const tryPolicy = command({
  name: "try",
  description:
    "Count the messages that a policy would have sent of this installation's history, beside those of the\n" +
    "  policy in force. Reads one snapshot on a separate connection, whether a server runs or not.",
  short: "Try a policy on this installation's history",
  examples: ["tocsin policy try policy.yaml --since 30d"],
  parameters: {
    file: flags.argument("FILE", "A policy in YAML or JSON"),
    since: flags.time("since", "Count the messages since (default: 30d ago)"),
    progress: flags.progress,
    json: flags.json,
  },
  run: Effect.fnUntraced(function* ({ file, json, progress, since }) {
    const output = yield* Output
    const from = yield* flags.beginOf(since, Duration.days(30))
    const comparison = yield* compare(file, from, progress)
    yield* writeResult(json, comparison, () => draw(comparison, output))
  }),
})
