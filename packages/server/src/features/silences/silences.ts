import { silenceColumns } from "@tocsin/contract/silences/silenceColumns"
import {
  SilencePath,
  type Silence,
  SilenceChangeRequest,
  type SilencePreview,
  SilenceRequest,
  SilenceStateName,
} from "@tocsin/contract/silences/Silences"
import * as Instant from "@tocsin/contract/formats/Instant"
import { parseMatcher } from "@tocsin/contract/labels/Matcher"
import { formatMatcher, limitsAgents } from "@tocsin/contract/labels/matcherText"
import { Silences } from "@tocsin/core/features/silences/Silences"
import { quotesWarning } from "@tocsin/core/heart/policy/policyWarnings"
import { Output } from "../../output/Output.ts"
import { Effect, Result, Schema } from "effect"
import { Argument, Flag } from "effect/cli"
import { notFound, refusal, usageFailure } from "../../CommandFailure.ts"
import { readTime, TIMES } from "../../commands/clockTimes.ts"
import { ageText, type Column, machineZone, plural, timeText } from "../../output/texts.ts"
import { actOn, group, listOn } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"

const id = flags.argument("ID", "The id of a silence, as tocsin silences list shows it")

const lengthFlag = flags.text("for", "How long, such as 90s, 8h or 7d")
const endsAt = flags.aliased("until", flags.text("ends-at", `When it ends: ${TIMES}`))

/** The times of a silence, by the clock of this machine. */
const timesOf = Effect.fnUntraced(function* (given: {
  readonly starts_at?: string | undefined
  readonly ends_at: string | undefined
}) {
  const tz = machineZone()
  const begin =
    given.starts_at === undefined ? undefined : yield* readTime("starts-at", given.starts_at, { tz })
  const end =
    given.ends_at === undefined
      ? undefined
      : yield* readTime("ends-at", given.ends_at, { tz, ...(begin && { after: begin }) })
  return {
    ...(begin && { starts_at: Instant.format(begin) }),
    ...(end && { ends_at: Instant.format(end) }),
  }
})

const requireOneEnd = (length: string | undefined, end: string | undefined) =>
  (length === undefined) === (end === undefined)
    ? Effect.fail(usageFailure("give either --for or --ends-at"))
    : Effect.void

const list = listOn(Silences.layer)({
  name: "list",
  description: "List silences, the newest first",
  filters: { state: flags.filter("state", SilenceStateName.literals, "Only silences in this state") },
  query: (filters, page) => Silences.use((queries) => queries.silences({ ...page, ...filters })),
  columns: (now): ReadonlyArray<Column<Silence>> => [
    { title: "SILENCE", cell: (silence) => silence.id },
    { title: "STATE", cell: ({ state }) => state, isState: true },
    { title: "STARTS", cell: ({ starts_at }) => ageText(starts_at, now), align: "right" },
    { title: "ENDS", cell: ({ ends_at }) => timeText(ends_at) },
    { title: "BY", cell: ({ created_by }) => created_by },
    { title: "MATCHERS", cell: ({ matchers }) => matchers.map(formatMatcher).join(", "), least: 16 },
    { title: "COMMENT", cell: ({ comment }) => comment, least: 16 },
  ],
  of: "silences",
  csv: silenceColumns,
})

const previewText = (
  { agents, held_now, needs_confirm, open_incidents, sample }: SilencePreview,
  { matchers, starts_at }: SilenceRequest,
): string =>
  [
    (starts_at === undefined ? "" : "if it began now: ") +
      (matchers.some(limitsAgents) ? `covers ${plural(agents, "agent")} and ` : "covers ") +
      `${plural(open_incidents, "open incident")}; would hold ${plural(held_now, "notification")} now`,
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

const add = actOn(Silences.layer)({
  name: "add",
  description: "Create a silence: it holds the notifications of the incidents that it covers until it ends",
  parameters: {
    match: flags
      .argument("MATCHER", "A field, an operator and a value, such as 'label:team = db'")
      .pipe(Argument.variadic({ min: 1 })),
    comment: Flag.String("comment").pipe(Flag.withDescription("Why")),
    for: lengthFlag,
    starts_at: flags.text("starts-at", "When it begins, written like --ends-at (default: now)"),
    ends_at: endsAt,
    confirm: flags.flag("confirm", "Create it even if it covers more than half of the agents"),
    dryRun: flags.flag("dry-run", "Report what the silence would cover, and create nothing"),
  },
  reads: Effect.fnUntraced(function* ({ dryRun: _, match, ...given }) {
    const matchers = yield* Effect.forEach(match, readMatcher)
    yield* requireOneEnd(given.for, given.ends_at)
    const times = yield* timesOf(given)
    return yield* flags.readArguments(SilenceRequest, { ...given, ...times, matchers })
  }),
})(function* (request, { dryRun }) {
  const { previewSilence, silence } = yield* Silences
  const { note } = yield* Output
  for (const warning of request.matchers.flatMap((one) => quotesWarning(one) ?? []))
    yield* note(`warning: a matcher ${warning}\n`)
  if (dryRun || request.confirm !== true) {
    const preview = yield* previewSilence(request)
    if (dryRun) return { answer: preview, text: previewText(preview, request) }
    if (preview.needs_confirm) return yield* tooWide(preview)
  }
  const created = yield* silence(request)
  const { ends_at, id: silence_id, starts_at, state } = created
  const span = `${state === "scheduled" ? ` from ${timeText(starts_at)}` : ""} until ${timeText(ends_at)}`
  const isWritten = request.starts_at !== undefined || request.ends_at !== undefined
  return { answer: created, text: `${silence_id}: ${state}${isWritten ? span : ""}\n` }
})

const noSuchSilence = (given: { readonly id: string }) =>
  notFound(`there is no silence ${given.id}: list silences with tocsin silences list`)

const Length = Schema.Struct({ for: Schema.optionalKey(SilenceRequest.fields.for.schema) })

const extend = actOn(Silences.layer)({
  name: "extend",
  description: "Set another end of a silence, counted from now with --for",
  parameters: { id, for: lengthFlag, ends_at: endsAt },
  reads: Effect.fnUntraced(function* ({ id: text, ends_at, ...given }) {
    const path = yield* flags.readArguments(SilencePath, { id: text })
    yield* requireOneEnd(given.for, ends_at)
    const { for: length } = yield* flags.readArguments(Length, given)
    const changes =
      length === undefined
        ? yield* flags.readArguments(SilenceChangeRequest, yield* timesOf({ ends_at }))
        : { ends_at: Instant.plus(yield* Instant.now, length) }
    return { ...path, changes }
  }),
  refused: { NotFound: noSuchSilence },
})(function* ({ changes, id: silence }) {
  const edited = yield* Silences.use(({ editSilence }) => editSilence(silence, changes))
  return { answer: edited, text: `${edited.id}: ends at ${timeText(edited.ends_at)}\n` }
})

const expire = actOn(Silences.layer)({
  name: "expire",
  description: "End a silence now; what it held is sent",
  parameters: { id },
  reads: flags.reader(SilencePath),
  refused: { NotFound: noSuchSilence },
})(function* ({ id: silence }) {
  const { expireSilence, showSilence } = yield* Silences
  yield* showSilence(silence)
  const { count } = yield* expireSilence(silence)
  if (count === 0) return yield* refusal(`the silence ${silence} has ended already`)
  return { answer: { count }, text: `${silence}: expired\n` }
})

export const silences = group({
  name: "silences",
  description: "List silences, create, extend or end them",
  examples: [
    "tocsin silences add 'label:team = db' --for 2h --comment 'new disks' --dry-run",
    "tocsin silences list --state active",
  ],
  commands: [list, add, extend, expire],
})
