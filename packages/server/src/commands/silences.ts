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
import { Effect, Option, Record, Result, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { notFound, refusal, usageFailure } from "../CommandFailure.ts"
import type { Column } from "../output/makeTable.ts"
import { writeResult } from "../output/Output.ts"
import { ageText, plural } from "../output/texts.ts"
import { itemsOf, writeList } from "../output/writeList.ts"
import * as flags from "./flags.ts"
import { readArguments } from "./readArguments.ts"
import { useCases } from "./UseCases.ts"

const id = Argument.String("ID").pipe(
  Argument.withDescription("The id of a silence, as tocsin silences list shows it"),
)

const readId = (text: string) =>
  Effect.map(readArguments(Schema.Struct({ id: SilenceId }), { id: text }), (read) => read.id)

const lengthFlag = flags.text("for", "How long, such as 90s, 8h or 7d")
const endsAt = flags.text("ends-at", "When it ends, such as 2027-01-31T08:30:00Z")

const requireOneEnd = (length: Option.Option<string>, end: Option.Option<string>) =>
  Option.isSome(length) === Option.isSome(end)
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

const list = Command.make(
  "list",
  {
    state: flags.filter("state", SilenceStateName.literals, "Only silences in this state"),
    ...flags.list,
  },
  Effect.fnUntraced(function* ({ state, ...given }) {
    const queries = yield* Queries
    const filter = { state: Option.getOrUndefined(state) }
    const items = itemsOf((page) => queries.silences({ ...page, ...filter }))
    return yield* writeList({ items, columns: columnsAt(yield* Instant.now), of: "silences" }, given)
  }, Effect.provide(useCases)),
).pipe(Command.withDescription("List silences, the newest first"))

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

const add = Command.make(
  "add",
  {
    match: Argument.String("MATCHER").pipe(
      Argument.withDescription("A field, an operator and a value, such as 'label:team = db'"),
      Argument.variadic({ min: 1 }),
    ),
    comment: Flag.String("comment").pipe(Flag.withDescription("Why")),
    for: lengthFlag,
    startsAt: flags.text("starts-at", "When it begins, such as 2027-01-31T08:30:00Z (default: now)"),
    endsAt,
    confirm: flags.flag("confirm", "Create it even if it covers more than half of the agents"),
    dryRun: flags.flag("dry-run", "Report what the silence would cover, and create nothing"),
    json: flags.json,
  },
  Effect.fnUntraced(function* ({
    match,
    comment,
    startsAt,
    endsAt: ends_at,
    confirm,
    dryRun,
    json,
    ...given
  }) {
    const matchers = yield* Effect.forEach(match, (text) =>
      Effect.fromResult(
        Result.mapError(parseMatcher(text), (problem) => usageFailure(`the matcher "${text}" ${problem}`)),
      ),
    )
    yield* requireOneEnd(given.for, ends_at)
    const times = Record.getSomes({ starts_at: startsAt, ends_at, for: given.for })
    const request = yield* readArguments(SilenceRequest, { matchers, comment, confirm, ...times })
    const create = Effect.gen(function* () {
      const operations = yield* Operations
      if (dryRun || !confirm) {
        const preview = yield* operations.previewSilence(request)
        if (dryRun) return yield* writeResult(json, preview, () => previewText(preview))
        if (preview.needs_confirm) return yield* tooWide(preview)
      }
      const silence = yield* operations.silence(request)
      return yield* writeResult(json, silence, () => `${silence.id}: ${silence.state}\n`)
    })
    return yield* create.pipe(
      Effect.catchTag("ValidationError", ({ message }) => Effect.fail(usageFailure(message))),
      Effect.catchTag("StateConflict", ({ message }) => Effect.fail(refusal(message))),
      Effect.provide(useCases),
    )
  }),
).pipe(
  Command.withDescription(
    "Create a silence: nobody is notified of the incidents that it covers until it ends",
  ),
)

const noSuchSilence = (text: string) =>
  notFound(`there is no silence ${text}: list silences with tocsin silences list`)

const extend = Command.make(
  "extend",
  { id, for: lengthFlag, endsAt, json: flags.json },
  Effect.fnUntraced(function* ({ id: text, endsAt: ends_at, json, ...given }) {
    const silence = yield* readId(text)
    yield* requireOneEnd(given.for, ends_at)
    const { for: length } = yield* readArguments(
      Schema.Struct({ for: Schema.optionalKey(SilenceRequest.fields.for.schema) }),
      Record.getSomes({ for: given.for }),
    )
    const now = yield* Instant.now
    const changes =
      length === undefined
        ? yield* readArguments(SilenceChangeRequest, Record.getSomes({ ends_at }))
        : { ends_at: Instant.plus(now, length) }
    const change = Effect.gen(function* () {
      const operations = yield* Operations
      const edited = yield* operations.editSilence(silence, changes)
      return yield* writeResult(
        json,
        edited,
        () => `${edited.id}: ends at ${Instant.format(edited.ends_at)}\n`,
      )
    })
    return yield* change.pipe(
      Effect.catchTag("NotFound", () => Effect.fail(noSuchSilence(text))),
      Effect.catchTag("ValidationError", ({ message }) => Effect.fail(usageFailure(message))),
      Effect.catchTag("StateConflict", ({ message }) => Effect.fail(refusal(message))),
      Effect.provide(useCases),
    )
  }),
).pipe(Command.withDescription("Set another end of a silence, counted from now with --for"))

const expire = Command.make(
  "expire",
  { id, json: flags.json },
  Effect.fnUntraced(function* ({ id: text, json }) {
    const silence = yield* readId(text)
    const end = Effect.gen(function* () {
      const operations = yield* Operations
      yield* Effect.catchTag(operations.showSilence(silence), "NotFound", () =>
        Effect.fail(noSuchSilence(text)),
      )
      const { count } = yield* operations.expireSilence(silence)
      if (count === 0) return yield* refusal(`the silence ${text} has ended already`)
      return yield* writeResult(json, { count }, () => `${text}: expired\n`)
    })
    return yield* Effect.provide(end, useCases)
  }),
).pipe(Command.withDescription("End a silence now; what it held is sent"))

/** `tocsin silences` */
export const silences = Command.make("silences").pipe(
  Command.withDescription("List silences, create, extend or end them"),
  Command.withExamples([
    { command: "tocsin silences add 'label:team = db' --for 2h --comment 'new disks' --dry-run" },
    { command: "tocsin silences list --state active" },
  ]),
  Command.withSubcommands([list, add, extend, expire]),
)
