import { formatDuration } from "@tocsin/contract/DurationText"
import type * as Instant from "@tocsin/contract/Instant"
import {
  ChangeIntegrationRequest,
  CreateIntegrationRequest,
  type Integration,
  IntegrationKind,
  IntegrationName,
  IntegrationOptions,
  type IntegrationWithKey,
  RotateIntegrationRequest,
} from "@tocsin/contract/Integrations"
import { Integrations } from "@tocsin/core/usecases/Integrations"
import { USUAL_GRACE } from "@tocsin/core/usecases/Operators"
import { Effect, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { notFound, refusal } from "../CommandFailure.ts"
import type { Column } from "../output/makeTable.ts"
import { confirm } from "../output/Output.ts"
import { ageText } from "../output/texts.ts"
import { act, onStorage } from "./act.ts"
import * as flags from "./flags.ts"
import { listCommand } from "./listCommand.ts"

const NamedIntegration = Schema.Struct({ name: IntegrationName })

const name = Argument.String("NAME").pipe(
  Argument.withDescription("The name of an integration, as tocsin integrations list shows it"),
)

const readName = (text: string) =>
  Effect.map(flags.readArguments(NamedIntegration, { name: text }), (read) => read.name)

const noSuchIntegration = (given: { readonly name: string }) =>
  notFound(`there is no integration ${given.name}: list integrations with tocsin integrations list`)

/** The text is the addresses to paste, and the key where an address lacks it. */
const keyResult = (integration: IntegrationWithKey) => {
  const { key, urls } = integration
  const lines = urls.map((url) =>
    url.includes(key) ? `address: ${url}` : `address, with the key in the header Authorization: ${url}`,
  )
  const texts = urls.every((url) => url.includes(key)) ? lines : [...lines, `key: ${key}`]
  return { answer: integration, text: `${texts.join("\n")}\n` }
}

const options = {
  check: flags.text("check", "The only check, which the address without a name means"),
  methods: flags.text("methods", "The methods that report, such as POST or GET,POST"),
  create: flags.flag("known-checks-only", "Refuse reports for checks that do not exist"),
  max_checks: flags.integer(
    "max-checks",
    "The most checks (default and largest: 1000 for ping and push, 10000 for alertmanager and webhook)",
  ),
  others: flags.text(
    "options",
    'Other options as a JSON object, as the API takes them, such as {"group_by": ["alertname"]}',
  ),
}

/** The options as a request has them. */
const optionsOf = (given: {
  readonly check: string | undefined
  readonly methods: string | undefined
  readonly create: boolean
  readonly max_checks: number | undefined
  readonly others: string | undefined
}) =>
  Effect.map(readOthers(given.others), (others) => ({
    ...others,
    ...(given.check !== undefined && { check: given.check }),
    ...(given.methods !== undefined && { methods: given.methods.split(",") }),
    ...(given.create && { create: false }),
    ...(given.max_checks !== undefined && { max_checks: given.max_checks }),
  }))

const OptionsText = Schema.Struct({ options: Schema.fromJsonString(IntegrationOptions) })

const readOthers = (text: string | undefined) =>
  text === undefined
    ? Effect.succeed({})
    : Effect.map(flags.readArguments(OptionsText, { options: text }), ({ options: others }) => others)

const add = act({
  name: "add",
  parameters: {
    name: Argument.String("NAME").pipe(
      Argument.withDescription("1 to 64 letters, digits or the characters . _ : -; no agent has this name"),
    ),
    kind: Flag.Literals("kind", IntegrationKind.literals).pipe(
      Flag.withDescription(
        "The protocol of the senders: ping as Healthchecks, push as Uptime Kuma, alertmanager as Alertmanager's API, webhook as its webhooks, Grafana's, or other JSON",
      ),
    ),
    ...options,
  },
  run: Effect.fnUntraced(function* (given) {
    const { kind, name: text } = given
    const request = yield* flags.readArguments(CreateIntegrationRequest, {
      name: text,
      kind,
      options: yield* optionsOf(given),
    })
    return keyResult(yield* onStorage(Integrations.use((integrations) => integrations.create(request))))
  }),
  refused: {
    StateConflict: (given) =>
      refusal(`there is an agent or an integration ${given.name}: choose another name`),
  },
}).pipe(Command.withDescription("Create an integration, and write its addresses, which are not shown again"))

const change = act({
  name: "change",
  parameters: { name, ...options },
  run: Effect.fnUntraced(function* (given) {
    const integration = yield* readName(given.name)
    const request = yield* flags.readArguments(ChangeIntegrationRequest, {
      options: yield* optionsOf(given),
    })
    const changed = yield* onStorage(
      Integrations.use((integrations) => integrations.change(integration, request)),
    )
    return { answer: changed, text: `${integration}: changed\n` }
  }),
  refused: { NotFound: noSuchIntegration },
}).pipe(Command.withDescription("Replace the options of an integration: those not given have their defaults"))

const rotate = act({
  name: "rotate",
  parameters: {
    name,
    grace: flags.text("grace", "How long the former key stays valid, from 0s to 7d (default: 24h)"),
  },
  run: Effect.fnUntraced(function* ({ name: text, grace }) {
    const integration = yield* readName(text)
    const request = yield* flags.readArguments(RotateIntegrationRequest, { grace })
    const rotated = yield* onStorage(
      Integrations.use((integrations) => integrations.rotate(integration, request)),
    )
    const length = formatDuration(request.grace ?? USUAL_GRACE)
    return { ...keyResult(rotated), note: `the former key stays valid for ${length}\n` }
  }),
  refused: { NotFound: noSuchIntegration },
}).pipe(Command.withDescription("Replace the key of an integration, and write its new addresses"))

const remove = act({
  name: "remove",
  parameters: { name, yes: flags.yes },
  run: Effect.fnUntraced(function* ({ name: text, yes }) {
    const integration = yield* readName(text)
    yield* confirm(`this removes the integration ${integration} with its checks and their history`, yes)
    const { count } = yield* onStorage(Integrations.use((integrations) => integrations.remove(integration)))
    if (count === 0) return yield* noSuchIntegration({ name: integration })
    return { answer: { count }, text: `${integration}: removed\n` }
  }),
}).pipe(Command.withDescription("Remove an integration with its agent, checks and history"))

const columnsAt = (now: Instant.Instant): ReadonlyArray<Column<Integration>> => [
  { title: "INTEGRATION", cell: (integration) => integration.name },
  { title: "KIND", cell: ({ is_closed, kind }) => (is_closed ? `${kind} (blocked)` : kind) },
  { title: "CREATED BY", cell: (integration) => integration.created_by },
  {
    title: "REPORTED",
    cell: ({ last_request_at }) => (last_request_at === null ? "" : ageText(last_request_at, now)),
  },
  {
    title: "LAST REFUSAL",
    cell: ({ last_refusal }) =>
      last_refusal === null ? "" : `${ageText(last_refusal.at, now)}: ${last_refusal.message}`,
  },
]

const list = listCommand({
  name: "list",
  filters: {},
  query: (_filters, page) => Integrations.use((integrations) => integrations.list(page)),
  columns: columnsAt,
  of: "integrations",
}).pipe(Command.withDescription("List integrations, without their keys"))

/** `tocsin integrations` */
export const integrations = Command.make("integrations").pipe(
  Command.withDescription("List integrations, create, change or remove them, and replace their keys"),
  Command.withExamples([
    { command: "tocsin integrations add cron --kind ping" },
    { command: "tocsin integrations add prometheus --kind alertmanager" },
    { command: "tocsin integrations rotate cron --grace 0s" },
  ]),
  Command.withSubcommands([list, add, change, rotate, remove]),
)
