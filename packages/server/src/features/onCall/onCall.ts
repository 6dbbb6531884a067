import * as Instant from "@tocsin/contract/formats/Instant"
import {
  type Override,
  OverridePath,
  OverrideRequest,
  type RotaList,
  RotaPath,
  type RotaPlan,
} from "@tocsin/contract/onCall/Rotas"
import { OnCall } from "@tocsin/core/features/onCall/OnCall"
import { ReceiverTests } from "@tocsin/core/features/receivers/ReceiverTests"
import { toNotifierTest } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, Layer, Schema, Struct } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { failure, notFound, refusal, usageFailure } from "../../CommandFailure.ts"
import { Output } from "../../output/Output.ts"
import { type Column, plural, sectionsText, tableText, timeText } from "../../output/texts.ts"
import * as settingTypes from "../../settings/settingTypes.ts"
import { readTime, TIMES } from "../../commands/clockTimes.ts"
import { actOn } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"

const rota = flags.argument("ROTA", "A rota of the policy")

const NO_ROTA = "the policy has no rota\n"

const noSuchRota = (given: { readonly rota: string }) =>
  notFound(`the policy has no rota ${given.rota}: list rotas with tocsin oncall`)

const days = Flag.Int("days").pipe(
  Flag.withDescription("How many days from now on, up to 366 (default: 31)"),
  Flag.withDefault(31),
)

/** The span of so many days from now on. */
const spanOf = Effect.fnUntraced(function* (count: number) {
  if (count < 1 || count > 366) return yield* usageFailure("--days must be a whole number from 1 to 366")
  return { to: Instant.plus(yield* Instant.now, Duration.days(count)) }
})

const names = (receivers: ReadonlyArray<string> | undefined): string => receivers?.join(", ") ?? ""

const NOW: ReadonlyArray<Column<RotaList["items"][number]>> = [
  { title: "ROTA", cell: ({ name }) => name },
  { title: "ON CALL", cell: ({ now }) => names(now.receivers) },
  { title: "BY", cell: ({ now }) => now.by },
  { title: "UNTIL", cell: ({ now }) => timeText(now.until) },
  { title: "NEXT", cell: ({ next }) => names(next?.receivers) },
]

const TURNS: ReadonlyArray<Column<RotaPlan["turns"][number]>> = [
  { title: "FROM", cell: ({ from }) => timeText(from) },
  { title: "TO", cell: ({ to }) => timeText(to) },
  { title: "ON CALL", cell: ({ receivers }) => names(receivers) },
  { title: "BY", cell: ({ by }) => by },
]

const OVERRIDES: ReadonlyArray<Column<Override>> = [
  { title: "OVERRIDE", cell: ({ id }) => id },
  { title: "STATE", cell: ({ state }) => state },
  { title: "FROM", cell: ({ from }) => timeText(from) },
  { title: "TO", cell: ({ to }) => timeText(to) },
  { title: "RECEIVERS", cell: ({ receivers }) => names(receivers) },
  { title: "BY", cell: ({ created_by }) => created_by },
  { title: "NOTE", cell: ({ note }) => note ?? "", least: 16 },
]

/** Something that a rota lacks: a receiver whose messages do not arrive, or an override that does not count. */
interface Gap extends Pick<RotaPlan["gaps"][number], "from" | "message" | "to"> {
  readonly rota: string
  readonly receiver: string
  readonly reason: RotaPlan["gaps"][number]["reason"] | "lost"
}

const GAPS: ReadonlyArray<Column<Gap>> = [
  { title: "ROTA", cell: (gap) => gap.rota },
  { title: "FROM", cell: ({ from }) => timeText(from) },
  { title: "TO", cell: ({ to }) => timeText(to) },
  { title: "FOUND", cell: ({ message }) => message, least: 16 },
]

const gapsOf = ({ gaps, name, overrides }: RotaPlan): ReadonlyArray<Gap> => [
  ...gaps.map((gap) => ({ rota: name, ...gap })),
  ...overrides.flatMap(({ from, id, missing, to }) =>
    missing.map((receiver) => ({
      rota: name,
      receiver,
      reason: "lost" as const,
      from,
      to,
      message: `the policy lacks ${receiver}, so the override ${id} does not count: add the receiver, or end the override`,
    })),
  ),
]

const show = actOn(OnCall.layer)({
  name: "show",
  description:
    "Show the turns of a rota, its overrides, what is wrong with them, and the address of its calendar",
  short: "Show a rota",
  examples: ["tocsin oncall show primary --days 30"],
  parameters: { rota, days },
  reads: Effect.fnUntraced(function* ({ days: count, rota: name }) {
    return { ...(yield* flags.readArguments(RotaPath, { name })), span: yield* spanOf(count) }
  }),
  refused: { NotFound: noSuchRota },
})(function* ({ name, span }) {
  const plan = yield* OnCall.use((operations) => operations.rota(name, span))
  const output = yield* Output
  const gaps = gapsOf(plan)
  return {
    answer: plan,
    text: sectionsText([
      tableText(TURNS, plan.turns, output),
      plan.overrides.length === 0 ? "" : tableText(OVERRIDES, plan.overrides, output),
      gaps.length === 0 ? "" : tableText(GAPS, gaps, output),
      plan.calendar === undefined ? "" : `calendar: ${plan.calendar}\n`,
    ]),
  }
})

/** An override's times by the clock of its rota. Its end may be how long it lasts. */
const timesOf = Effect.fnUntraced(function* (
  { from, to }: { readonly from: string | undefined; readonly to: string },
  tz: string,
) {
  const begin = from === undefined ? undefined : yield* readTime("from", from, { tz })
  const after = begin ?? (yield* Instant.now)
  const length = settingTypes.duration.parse(to)
  const end =
    length === undefined
      ? yield* readTime("to", to, { after, tz, more: ", or 8h" })
      : Instant.plus(after, length)
  return { ...(begin && { from: begin }), to: end }
})

const Chosen = Schema.Struct(Struct.omit(OverrideRequest.fields, ["from", "to"]))

const override = actOn(OnCall.layer)({
  name: "override",
  description: "Put receivers on call in a rota for a while, instead of its turn. The latest override counts",
  short: "Take over a rota for a while",
  examples: [
    "tocsin oncall override primary bob --to 8h",
    'tocsin oncall override primary bob --to "tomorrow 8:00"',
    "tocsin oncall override primary bob --from 2027-01-30T17:00:00Z --to 2027-02-01T08:00:00Z --note wedding",
  ],
  parameters: {
    rota,
    receivers: flags
      .argument("RECEIVER", "A receiver of the policy")
      .pipe(Argument.variadic({ min: 1, max: 5 })),
    to: Flag.String("to").pipe(
      Flag.withDescription(`When it ends, by the rota's clock: ${TIMES}, or 8h for as long after it begins`),
    ),
    from: flags.text("from", "When it begins, written like --to (default: now)"),
    note: flags.text("note", "Why"),
  },
  reads: Effect.fnUntraced(function* ({ from, rota: name, to, ...given }) {
    const path = yield* flags.readArguments(RotaPath, { name })
    // Mistakes need no storage.
    yield* timesOf({ from, to }, "UTC")
    const request = yield* flags.readArguments(Chosen, given)
    return { ...path, request, written: { from, to } }
  }),
  refused: { NotFound: noSuchRota },
})(function* ({ name, request, written }) {
  const { override: create, rota: plan } = yield* OnCall
  const { tz } = yield* plan(name, yield* spanOf(1))
  const times = yield* timesOf(written, tz)
  const created = yield* create(name, { ...request, ...times })
  const { from, id, left_out, receivers, to } = created
  const text = `${id}: ${names(receivers)} from ${timeText(from, tz)} to ${timeText(to, tz)}\n`
  const note = `${names(left_out)} shares a turn with them and is not on call meanwhile: name all receivers of a person\n`
  return { answer: created, text: left_out.length === 0 ? text : `${text}${note}` }
})

const end = actOn(OnCall.layer)({
  name: "end",
  description: "End an override of a rota now, also that of another operator",
  parameters: { rota, id: flags.argument("ID", "The id of an override, as tocsin oncall show shows it") },
  reads: ({ id, rota: name }) => flags.readArguments(OverridePath, { name, id }),
})(function* ({ id, name }) {
  const { count } = yield* OnCall.use((operations) => operations.endOverride(name, id))
  if (count === 0)
    return yield* refusal(`${name} has no override ${id} that has not ended: see tocsin oncall show ${name}`)
  return { answer: { count }, text: `${id}: ended\n` }
})

const noGap = (rotas: number): string => (rotas === 0 ? NO_ROTA : "no gap\n")

const gaps = actOn(OnCall.layer)({
  name: "gaps",
  description:
    "List receivers on call that are shadows, quiet at times, unusable or refuse messages, and overrides that do not count",
  short: "List what rotas lack",
  parameters: { days },
  reads: ({ days: count }) => spanOf(count),
})(function* (span) {
  const { rota: plan, rotas } = yield* OnCall
  const { items } = yield* rotas
  const plans = yield* Effect.forEach(items, ({ name }) => plan(name, span))
  const found = plans.flatMap(gapsOf)
  return {
    answer: { items: found },
    text: found.length === 0 ? noGap(items.length) : tableText(GAPS, found, yield* Output),
  }
})

const test = actOn(Layer.merge(OnCall.layer, ReceiverTests.layer))({
  name: "test",
  description: "Send a message marked as a test to each receiver that is on call in a rota now",
  short: "Send a test message to who is on call",
  parameters: { rota },
  reads: ({ rota: name }) => flags.readArguments(RotaPath, { name }),
  refused: { NotFound: noSuchRota },
})(function* ({ name }) {
  const { rota: plan } = yield* OnCall
  const { testNotifier } = yield* ReceiverTests
  const { now } = yield* plan(name, yield* spanOf(1))
  const items = yield* Effect.forEach(
    now.receivers,
    (receiver) => Effect.map(testNotifier(receiver), (receipt) => ({ receiver, ...toNotifierTest(receipt) })),
    { concurrency: "unbounded" },
  )
  const failed = items.filter(({ outcome }) => outcome !== "delivered")
  return {
    answer: { items },
    text: items
      .map(({ error, outcome, receiver }) => `${receiver}: ${outcome}${error === null ? "" : `: ${error}`}\n`)
      .join(""),
    failure:
      failed.length === 0
        ? undefined
        : failure(
            `${plural(failed.length, "receiver")} of ${items.length} did not accept the test message: see above, and tocsin doctor`,
          ),
  }
})

export const onCall = actOn(OnCall.layer)({
  name: "oncall",
  description: "List who is on call in each rota, and who comes next; show a rota, take it over, test it",
  short: "List who is on call; take over, find gaps, test",
  examples: ["tocsin oncall", "tocsin oncall override primary bob --to 8h"],
  parameters: {},
})(function* () {
  const answer = yield* OnCall.use((operations) => operations.rotas)
  return {
    answer,
    text: answer.items.length === 0 ? NO_ROTA : tableText(NOW, answer.items, yield* Output),
  }
}).pipe(Command.withSubcommands([show, override, end, gaps, test]))
