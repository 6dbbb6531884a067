import * as Instant from "@tocsin/contract/Instant"
import type { PolicyCounts, HeldCount } from "@tocsin/simulation/Backtest"
import { Duration, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { usageFailure } from "../CommandFailure.ts"
import { placeOfSettings, requireSchema } from "../copy/StoragePlace.ts"
import { type Column, tableText } from "../output/makeTable.ts"
import { Output, writeResult } from "../output/Output.ts"
import { countText, plural, sectionsText } from "../output/texts.ts"
import { withProgress } from "../output/withProgress.ts"
import { givenPolicy } from "../policy/givenPolicy.ts"
import { readAgents, readHistory } from "@tocsin/simulation/readHistory"
import { startTrial } from "@tocsin/simulation/backtestThread"
import { enabledNotifiers } from "../rules.ts"
import type { Settings } from "../settings/Settings.ts"
import * as flags from "./flags.ts"
import { settingsOfCommand } from "./UseCases.ts"

/** The gaps in the tables' knowledge; printed with every report. */
const UNKNOWN: ReadonlyArray<string> = [
  "freshness: unchanged results leave no trace, so no check counts as overdue",
  "labels and hostnames: those of today count for the whole time, also labels of checks",
  "deleted agents and checks: their history is gone; incidents of blocked agents stay open",
  "delivery: each notification is one message that arrives at once; digests and repeated alerts are left out",
  "people: acknowledgements and silences count as they were given, though other messages might have changed them",
]

interface Receiver {
  readonly receiver: string
  readonly in_force: number
  readonly tried: number
}

const RECEIVERS: ReadonlyArray<Column<Receiver>> = [
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

/** The policy of the settings, and its name for people. */
const policyInForce = Effect.fnUntraced(function* (settings: Settings) {
  const notifiers = enabledNotifiers(settings)
  const { SERVICE_POLICY_FILE: file } = settings
  if (file === undefined) return { name: "no policy", policy: {}, notifiers }
  return { name: file, ...(yield* givenPolicy(file, notifiers)) }
})

const sumOf = ({ messages }: PolicyCounts): number =>
  Array.from(messages.values()).reduce((sum, count) => sum + count, 0)

const receiversOf = (inForce: PolicyCounts, tried: PolicyCounts): ReadonlyArray<Receiver> =>
  Array.from(new Set([...inForce.messages.keys(), ...tried.messages.keys()]))
    .toSorted()
    .map((receiver) => ({
      receiver,
      in_force: inForce.messages.get(receiver) ?? 0,
      tried: tried.messages.get(receiver) ?? 0,
    }))

/** Counts what both policies would have sent of the installation's past. */
const compare = Effect.fnUntraced(function* (file: string, since: Duration.Duration, asLines: boolean) {
  const settings = yield* settingsOfCommand
  const inForce = yield* policyInForce(settings)
  const tried = yield* givenPolicy(file, enabledNotifiers(settings))
  const place = placeOfSettings(settings)
  if (place === undefined)
    return yield* usageFailure(
      "with DATABASE_URL=memory: the history exists only in the server's process; use tocsin simulate --policy with lines of its API instead",
    )
  yield* requireSchema(place)
  const until = yield* Instant.now
  const from = Instant.minus(until, since)
  const { counts, past } = yield* withProgress({ asLines }, ({ report }) =>
    place.withSource((source) =>
      Effect.gen(function* () {
        const agents = yield* readAgents(source)
        const options = { agents, since: from, staleAfter: settings.SERVICE_STALE_AFTER }
        const trials = yield* Effect.forEach([inForce, tried], (policy) => startTrial(policy, options))
        const ofAll = { concurrency: "unbounded" } as const
        const read = yield* readHistory(source, {
          agents,
          report: (piece) => report({ ...piece, of: "results" }),
          until,
          take: (entries) =>
            Effect.forEach(trials, (trial) => trial.take(entries), { ...ofAll, discard: true }),
        })
        return { past: read, counts: yield* Effect.forEach(trials, (trial) => trial.end(until), ofAll) }
      }).pipe(Effect.scoped),
    ),
  )
  const [before, after] = counts
  if (before === undefined || after === undefined) return yield* Effect.die("two policies have two counts")
  return {
    since: from,
    until,
    history_from: past.from ?? null,
    results: past.results,
    in_force: inForce.name,
    messages: { in_force: sumOf(before), tried: sumOf(after) },
    receivers: receiversOf(before, after),
    held: after.held,
    unknown: UNKNOWN,
  }
})

type Comparison = Effect.Success<ReturnType<typeof compare>>

const draw = (comparison: Comparison, output: Output["Service"]): string => {
  const { history_from, in_force, messages, receivers, results, since, until, unknown, held } = comparison
  return sectionsText([
    `${plural(messages.tried, "message")} instead of ${countText(messages.in_force)} ` +
      `from ${Instant.format(since)} to ${Instant.format(until)}\n`,
    receivers.length === 0 ? "" : tableText(RECEIVERS, receivers, output),
    held.length === 0 ? "" : tableText(HELD, held, output),
    `In force: ${in_force}. ${countText(results)} stored results` +
      (history_from !== null && history_from > since
        ? `, the oldest of ${Instant.format(history_from)}\n`
        : "\n"),
    `Not known from the tables:\n${unknown.map((line) => `- ${line}\n`).join("")}`,
  ])
}

/** `tocsin policy try` */
export const tryPolicy = Command.make(
  "try",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("A policy in YAML or JSON")),
    since: flags
      .duration("since", "Count the messages of this long until now (default: 30d)")
      .pipe(Flag.withDefault(Duration.days(30))),
    progress: flags.progress,
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ file, json, progress, since }) {
    const output = yield* Output
    const comparison = yield* compare(file, since, progress)
    yield* writeResult(json, comparison, () => draw(comparison, output))
  }),
).pipe(
  Command.withDescription(
    "Count the messages that a policy would have sent of this installation's history, beside those of the\n" +
      "  policy in force. Reads one snapshot on a connection of its own, whether a server runs or not.",
  ),
  Command.withShortDescription("Try a policy on this installation's history"),
  Command.withExamples([{ command: "tocsin policy try policy.yaml --since 30d" }]),
)
