import { readFileSync } from "node:fs"
import { formatDuration } from "@tocsin/contract/formats/DurationText"
import {
  integrationColumns,
  ChangeIntegrationRequest,
  CreateIntegrationRequest,
  type Integration,
  IntegrationKind,
  IntegrationOptions,
  IntegrationPath,
  type IntegrationWithKey,
} from "@tocsin/contract/integrations/Integrations"
import { type KeptMail, MailId, MOST_READ, TryMailRequest } from "@tocsin/contract/integrations/Mails"
import { INTEGRATION_KINDS } from "@tocsin/contract/integrations/integrationKinds"
import { senderLines } from "@tocsin/contract/integrations/senderLines"
import { RotateOperatorRequest } from "@tocsin/contract/operators/Operators"
import { Integrations } from "@tocsin/core/features/integrations/Integrations"
import { MailReader } from "@tocsin/core/features/integrations/mail/Mail"
import { USUAL_GRACE } from "@tocsin/core/heart/usecases/Operators"
import { Effect, Option, Schema } from "effect"
import { Argument, type Command, Flag } from "effect/cli"
import { notFound, refusal } from "../../CommandFailure.ts"
import { ageText, type Column, tableText, titledText } from "../../output/texts.ts"
import { actOn, group, listOn } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"
import { addressOf } from "../watches/serverProbes.ts"
import { settingsOfCommand } from "../../commands/UseCases.ts"

const name = flags.argument("NAME", "The name of an integration, as tocsin integrations list shows it")

const isMailId = Schema.is(MailId)

const readMailFile = (file: string) =>
  Effect.try({
    try: () => readFileSync(file).subarray(0, MOST_READ),
    catch: () =>
      notFound(
        `there is no readable file ${file}, and no kept mail has this ID: list mails with tocsin integrations mails`,
      ),
  })

const noSuchIntegration = (given: { readonly name: string }) =>
  notFound(`there is no integration ${given.name}: list integrations with tocsin integrations list`)

/** The text is what to paste. Without SERVICE_PUBLIC_URL, the addresses are those of a server on this machine. */
const keyResult = Effect.fnUntraced(function* (integration: IntegrationWithKey) {
  const lines = senderLines(integration, addressOf(yield* settingsOfCommand))
  const texts = lines.map(([what, text]) => (text.includes("\n") ? text : `${what}: ${text}`))
  return { answer: integration, text: `${texts.join("\n")}\n` }
})

/** Without a period, a job that runs no more looks as if it were well. */
const EVERY_HINT =
  "add ?every=1d to the address of a daily job: Tocsin then notifies when it no longer reports\n"

const options = {
  check: flags.text("check", "The only check, which the address without a name means"),
  methods: flags.text("methods", "The methods that report, such as POST or GET,POST"),
  create: flags.flag("known-checks-only", "Refuse reports for checks that do not exist"),
  max_checks: flags.integer(
    "max-checks",
    "The most checks (default and largest: 1000 for ping and push, else 10000)",
  ),
  others: flags.text(
    "options",
    'Other options as a JSON object, as the API takes them, such as {"group_by": ["alertname"]}',
  ),
}

const OptionsText = Schema.Struct({ options: Schema.optionalKey(Schema.fromJsonString(IntegrationOptions)) })

const optionsOf = (given: Command.Command.Config.InferValue<typeof options>) =>
  Effect.map(flags.readArguments(OptionsText, { options: given.others }), ({ options: others }) => ({
    ...others,
    ...(given.check !== undefined && { check: given.check }),
    ...(given.methods !== undefined && { methods: given.methods.split(",") }),
    ...(given.create && { create: false }),
    ...(given.max_checks !== undefined && { max_checks: given.max_checks }),
  }))

const add = actOn(Integrations.layer)({
  name: "add",
  description: "Create an integration, and write its addresses, which are not shown again",
  parameters: {
    name: flags
      .argument(
        "NAME",
        "1 to 64 letters, digits or the characters . _ : -; no agent has this name (default: from the title)",
      )
      .pipe(Argument.optional),
    title: flags.text("title", "What people call it, its agent and its only check"),
    kind: Flag.Literals("kind", IntegrationKind.literals).pipe(
      Flag.withDescription(
        `The protocol of the senders: ${Object.entries(INTEGRATION_KINDS)
          .map(([kind, { senders }]) => `${kind} (${senders})`)
          .join("; ")}`,
      ),
    ),
    ...options,
  },
  reads: Effect.fnUntraced(function* ({ kind, name: text, title, ...given }) {
    const request = {
      ...(Option.isSome(text) && { name: text.value }),
      ...(title !== undefined && { title }),
      kind,
      options: yield* optionsOf(given),
    }
    return yield* flags.readArguments(CreateIntegrationRequest, request)
  }),
})(function* (request) {
  const { answer, text } = yield* keyResult(
    yield* Integrations.use((integrations) => integrations.create(request)),
  )
  return { answer, text: request.kind === "ping" ? `${text}${EVERY_HINT}` : text }
})

const change = actOn(Integrations.layer)({
  name: "change",
  description: "Replace the options of an integration: those not given have their defaults",
  parameters: { name, ...options },
  reads: Effect.fnUntraced(function* ({ name: text, ...given }) {
    const named = yield* flags.readArguments(IntegrationPath, { name: text })
    const request = { options: yield* optionsOf(given) }
    return { ...named, request: yield* flags.readArguments(ChangeIntegrationRequest, request) }
  }),
  refused: { NotFound: noSuchIntegration },
})(function* ({ name: integration, request }) {
  const changed = yield* Integrations.use((integrations) => integrations.change(integration, request))
  return { answer: changed, text: `${integration}: changed\n` }
})

const entitle = actOn(Integrations.layer)({
  name: "title",
  description: "Give an integration a title, with its agent and its only check; an empty one takes it back",
  parameters: { name, title: flags.titleArgument },
  reads: Effect.fnUntraced(function* ({ name: text, title: given }) {
    const named = yield* flags.readArguments(IntegrationPath, { name: text })
    return { ...named, title: yield* flags.titleIn(given) }
  }),
  refused: { NotFound: noSuchIntegration },
})(function* ({ name: of, title }) {
  const answer = yield* Integrations.use((integrations) => integrations.change(of, { title }))
  return { answer, text: titledText(of, title) }
})

const rotate = actOn(Integrations.layer)({
  name: "rotate",
  description: "Replace the key of an integration, and write its new addresses",
  parameters: {
    name,
    grace: flags.text("grace", "How long the former key stays valid, from 0s to 7d (default: 24h)"),
  },
  reads: flags.reader(Schema.Struct({ ...IntegrationPath.fields, ...RotateOperatorRequest.fields })),
  refused: { NotFound: noSuchIntegration },
})(function* ({ name: integration, ...request }) {
  const rotated = yield* Integrations.use((integrations) => integrations.rotate(integration, request))
  const length = formatDuration(request.grace ?? USUAL_GRACE)
  return { ...(yield* keyResult(rotated)), note: `the former key stays valid for ${length}\n` }
})

const remove = actOn(Integrations.layer)({
  name: "remove",
  description: "Remove an integration with its agent, checks and history",
  parameters: { name, yes: flags.yes },
  reads: flags.confirmed(
    IntegrationPath,
    (given) => `this removes the integration ${given.name} with its checks and their history`,
  ),
})(function* (integration) {
  const { count } = yield* Integrations.use((integrations) => integrations.remove(integration.name))
  if (count === 0) return yield* noSuchIntegration(integration)
  return { answer: { count }, text: `${integration.name}: removed\n` }
})

const list = listOn(Integrations.layer)({
  name: "list",
  description: "List integrations, without their keys",
  filters: {},
  query: (_, page) => Integrations.use((integrations) => integrations.list(page)),
  columns: (now): ReadonlyArray<Column<Integration>> => [
    { title: "INTEGRATION", cell: (integration) => integration.name },
    { title: "TITLE", cell: ({ title }) => title ?? "", isOptional: true, least: 12 },
    { title: "KIND", cell: ({ is_closed, kind }) => (is_closed ? `${kind} (blocked)` : kind) },
    { title: "CREATED BY", cell: ({ created_by }) => created_by },
    { title: "REPORTED", cell: ({ last_request_at }) => ageText(last_request_at, now) },
    { title: "LATE", cell: ({ overdue }) => String(overdue), align: "right" },
    {
      title: "LAST REFUSAL",
      cell: ({ last_refusal: last }) => (last === null ? "" : `${ageText(last.at, now)}: ${last.message}`),
    },
  ],
  of: "integrations",
  csv: integrationColumns,
})

/** Prints what would become of a mail: its status and check, and why. */
const tryMail = actOn(Integrations.layer)({
  name: "try",
  description: "Say what would become of a mail, by the options of an integration. Stores nothing",
  parameters: {
    name,
    mail: flags.argument("FILE|ID", "The file of a whole mail, or the ID of a kept one, as mails shows it"),
    check: flags.text("check", "The name of a check in the address"),
    others: options.others,
  },
  reads: Effect.fnUntraced(function* ({ check, mail, name: text, others }) {
    const named = yield* flags.readArguments(IntegrationPath, { name: text })
    const given = isMailId(mail) ? { id: mail } : { mail: (yield* readMailFile(mail)).toString("base64") }
    const { options: chosen } = yield* flags.readArguments(OptionsText, { options: others })
    return {
      ...named,
      request: yield* flags.readArguments(TryMailRequest, {
        ...given,
        ...(check !== undefined && { check }),
        ...(chosen !== undefined && { options: chosen }),
      }),
    }
  }),
  refused: {
    NotFound: ({ name: integration }) =>
      notFound(
        `there is no integration ${integration}, or no such mail: list mails with tocsin integrations mails`,
      ),
    StateConflict: ({ name: integration }) =>
      refusal(`the integration ${integration} takes no mails: its kind is not mail`),
  },
})(function* ({ name: integration, request }) {
  const { mailHere } = yield* Effect.promise(() => import("./mailHere.ts"))
  const answer = yield* Integrations.use(({ tryMail: tried }) => tried(integration, request)).pipe(
    Effect.provideService(MailReader, mailHere),
  )
  const { by, check_id, outcome, reason = "", status = "" } = answer
  const result = check_id === undefined ? [] : [`${status} ${check_id}`]
  const said = outcome === "applied" ? result : [...result, `${outcome}: ${reason}`]
  return { answer, text: `${said.join(", ")} (${by})\n` }
})

const mails = actOn(Integrations.layer)({
  name: "mails",
  description: "List the last mails of an integration, and what became of each",
  parameters: { name },
  reads: flags.reader(IntegrationPath),
  refused: { NotFound: noSuchIntegration },
})(function* ({ name: integration }) {
  const answer = yield* Integrations.use(({ mails: kept }) => kept(integration))
  const columns: ReadonlyArray<Column<KeptMail>> = [
    { title: "ID", cell: ({ id }) => id },
    { title: "OUTCOME", cell: ({ outcome, status }) => (outcome === "applied" ? (status ?? "") : outcome) },
    { title: "BY", cell: ({ by }) => by },
    { title: "CHECK", cell: ({ check_id = "" }) => check_id },
    { title: "SUBJECT", cell: ({ subject }) => subject },
    { title: "REASON", cell: ({ reason = "" }) => reason, isOptional: true },
  ]
  return { answer, text: tableText(columns, answer.items, { columns: undefined, hasColour: false }) }
})

export const integrations = group({
  name: "integrations",
  description: "List integrations, create, title, change or remove them, and replace their keys",
  examples: [
    "tocsin integrations add cron --kind ping",
    "tocsin integrations add prometheus --kind alertmanager",
    "tocsin integrations rotate cron --grace 0s",
  ],
  commands: [list, add, change, entitle, rotate, remove, mails, tryMail],
})
