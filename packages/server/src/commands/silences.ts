import { SilenceId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import {
  type Silence,
  SilenceChangeRequest,
  type SilencePreview,
  SilenceRequest,
  SilenceStateName,
} from "@tocsin/contract/Silences"
import { formatMatcher, parseMatcher } from "@tocsin/contract/Matcher"
import { Operations } from "@tocsin/core/usecases/Operations"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect, Result, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { notFound, refusal, usageFailure } from "../CommandFailure.ts"
import type { Column } from "../output/makeTable.ts"
import { ageText, plural } from "../output/texts.ts"
import { act, onStorage } from "./act.ts"
import * as flags from "./flags.ts"
import { listCommand } from "./listCommand.ts"

const id = Argument.String("ID").pipe(
  Argument.withDescription("The id of a silence, as tocsin silences list shows it"),
)

const readId = (text: string) =>
  Effect.map(flags.readArguments(Schema.Struct({ id: SilenceId }), { id: text }), (read) => read.id)

const lengthFlag = flags.text("for", "How long, such as 90s, 8h or 7d")
const endsAt = flags.text("ends-at", "When it ends, such as 2027-01-31T08:30:00Z")

const requireOneEnd = (length: string | undefined, end: string | undefined) =>
  (length === undefined) === (end === undefined)
    ? Effect.fail(usageFailure("give either --for or --ends-at"))
    : Effect.void

const columnsAt = (now: Instant.Instant): ReadonlyArray<Column<Silence>> => [
  { title: "SILENCE", cell: (silence) => silence.id },
  { title: "STATE", cell: (silence) => silence.state, isState: true },
  { title: "STARTS", cell: (silence) => ageText(silence.starts_at, now), align: "right" },
  { title: "ENDS", cell: (silence) => Instant.format(silence.ends_at) },
  { title: "BY", cell: (silence) => silence.created_by },
  { title: "MATCHERS", cell: ({ matchers }) => matchers.map(formatMatcher).join(", "), least: 16 },
  { title: "COMMENT", cell: (silence) => silence.comment, least: 16 },
]

const list = listCommand({
  name: "list",
  filters: { state: flags.filter("state", SilenceStateName.literals, "Only silences in this state") },
  query: (filters, page) => Queries.use((queries) => queries.silences({ ...page, ...filters })),
  columns: columnsAt,
  of: "silences",
}).pipe(Command.withDescription("List silences, the newest first"))

const previewText = ({ agents, held_now, needs_confirm, open_incidents, sample }: SilencePreview): string =>
  [
    `covers ${plural(agents, "agent")} and ${plural(open_incidents, "open incident")}; ` +
      `would hold ${plural(held_now, "notification")} now`,
    ...sample.map(({ id: incident, incident_key, severity }) => `${incident} ${severity} ${incident_key}`),
    ...(needs_confirm ? ["covers more than half of the agents: add --confirm if that is meant"] : []),
    "",
  ].join("\n")

const tooWide = ({ agents }: SilencePreview) =>
  refusal(`the silence covers ${agents} agents, more than half of all: add --confirm if that is meant`)

const readMatcher = (text: string) =>
  Effect.fromResult(
    Result.mapError(parseMatcher(text), (problem) => usageFailure(`the matcher "${text}" ${problem}`)),
  )

const create = Effect.fnUntraced(function* (request: SilenceRequest, dryRun: boolean) {
  const operations = yield* Operations
  if (dryRun || request.confirm !== true) {
    const preview = yield* operations.previewSilence(request)
    if (dryRun) return { answer: preview, text: previewText(preview) }
    if (preview.needs_confirm) return yield* tooWide(preview)
  }
  const silence = yield* operations.silence(request)
  return { answer: silence, text: `${silence.id}: ${silence.state}\n` }
})

const add = act({
  name: "add",
  parameters: {
    match: Argument.String("MATCHER").pipe(
      Argument.withDescription("A field, an operator and a value, such as 'label:team = db'"),
      Argument.variadic({ min: 1 }),
    ),
    comment: Flag.String("comment").pipe(Flag.withDescription("Why")),
    for: lengthFlag,
    starts_at: flags.text("starts-at", "When it begins, such as 2027-01-31T08:30:00Z (default: now)"),
    ends_at: endsAt,
    confirm: flags.flag("confirm", "Create it even if it covers more than half of the agents"),
    dryRun: flags.flag("dry-run", "Report what the silence would cover, and create nothing"),
  },
  run: Effect.fnUntraced(function* ({ dryRun, match, ...given }) {
    const matchers = yield* Effect.forEach(match, readMatcher)
    yield* requireOneEnd(given.for, given.ends_at)
    const request = yield* flags.readArguments(SilenceRequest, { ...given, matchers })
    return yield* onStorage(create(request, dryRun))
  }),
}).pipe(
  Command.withDescription(
    "Create a silence: nobody is notified of the incidents that it covers until it ends",
  ),
)

const noSuchSilence = (given: { readonly id: string }) =>
  notFound(`there is no silence ${given.id}: list silences with tocsin silences list`)

const Length = Schema.Struct({ for: Schema.optionalKey(SilenceRequest.fields.for.schema) })

const extend = act({
  name: "extend",
  parameters: { id, for: lengthFlag, ends_at: endsAt },
  run: Effect.fnUntraced(function* ({ id: text, ends_at, ...given }) {
    const silence = yield* readId(text)
    yield* requireOneEnd(given.for, ends_at)
    const { for: length } = yield* flags.readArguments(Length, given)
    const changes =
      length === undefined
        ? yield* flags.readArguments(SilenceChangeRequest, { ends_at })
        : { ends_at: Instant.plus(yield* Instant.now, length) }
    const edited = yield* onStorage(Operations.use((operations) => operations.editSilence(silence, changes)))
    return { answer: edited, text: `${edited.id}: ends at ${Instant.format(edited.ends_at)}\n` }
  }),
  refused: { NotFound: noSuchSilence },
}).pipe(Command.withDescription("Set another end of a silence, counted from now with --for"))

const endNow = Effect.fnUntraced(function* (silence: SilenceId) {
  const operations = yield* Operations
  yield* operations.showSilence(silence)
  return yield* operations.expireSilence(silence)
})

const expire = act({
  name: "expire",
  parameters: { id },
  run: Effect.fnUntraced(function* ({ id: text }) {
    const { count } = yield* onStorage(endNow(yield* readId(text)))
    if (count === 0) return yield* refusal(`the silence ${text} has ended already`)
    return { answer: { count }, text: `${text}: expired\n` }
  }),
  refused: { NotFound: noSuchSilence },
}).pipe(Command.withDescription("End a silence now; what it held is sent"))

/** `tocsin silences` */
export const silences = Command.make("silences").pipe(
  Command.withDescription("List silences, create, extend or end them"),
  Command.withExamples([
    { command: "tocsin silences add 'label:team = db' --for 2h --comment 'new disks' --dry-run" },
    { command: "tocsin silences list --state active" },
  ]),
  Command.withSubcommands([list, add, extend, expire]),
)
