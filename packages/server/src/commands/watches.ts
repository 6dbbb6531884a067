import * as Instant from "@tocsin/contract/Instant"
import {
  CreateWatchRequest,
  PauseWatchRequest,
  TryWatchRequest,
  type Watch,
  WatchPath,
} from "@tocsin/contract/Watches"
import { WATCH_ADDRESSES, watchOfAddress } from "@tocsin/contract/watchOfAddress"
import { Watches } from "@tocsin/core/usecases/Watches"
import { Duration, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { CommandFailure, notFound, usageFailure } from "../CommandFailure.ts"
import type { Column } from "../output/makeTable.ts"
import { confirm } from "../output/Output.ts"
import { ageText } from "../output/texts.ts"
import { act, onStorage } from "./act.ts"
import * as flags from "./flags.ts"
import { listCommand } from "./listCommand.ts"

const name = Argument.String("NAME").pipe(
  Argument.withDescription("The name of a watch, as tocsin watches list shows it"),
)

const readName = (text: string) =>
  Effect.map(flags.readArguments(WatchPath, { name: text }), (read) => read.name)

const noSuchWatch = (given: { readonly name: string }) =>
  notFound(`there is no watch ${given.name}: list watches with tocsin watches list`)

const address = Argument.String("ADDRESS").pipe(Argument.withDescription(`The target: ${WATCH_ADDRESSES}`))

const readAddress = (text: string) => {
  const watch = watchOfAddress(text)
  return watch === undefined
    ? Effect.fail(usageFailure(`the target must be ${WATCH_ADDRESSES}`))
    : Effect.succeed(watch)
}

const wanted = flags.text("text", "A text that the page must contain")

/** The probe of a request, with the options of pages. */
const probeWith = (watch: NonNullable<ReturnType<typeof watchOfAddress>>, text: string | undefined) =>
  "http" in watch.probe && text !== undefined ? { http: { ...watch.probe.http, text } } : watch.probe

const pauseText = ({ is_paused, paused_until }: Watch): string => {
  if (!is_paused) return ""
  return paused_until === null ? "paused" : `paused until ${Instant.format(paused_until)}`
}

const targetOf = (watch: Watch): string => {
  const { dns, http, tcp, tls } = watch
  if (http !== undefined) return http.url
  if (tcp !== undefined) return `tcp://${tcp.host}:${tcp.port}`
  if (tls !== undefined) return `tls://${tls.host}:${tls.port ?? 443}`
  return `dns:${dns?.name ?? ""}`
}

/** `tocsin watch` */
export const watch = act({
  name: "watch",
  parameters: {
    address,
    name: flags.text("name", "The name of the watch and its check (default: from the address)"),
    every: flags.text("every", "The time from one probe to the next, from 10s to 1d (default: 1m)"),
    bad: flags.integer("bad", "How many failures in a row count (default: 2)"),
    text: wanted,
  },
  run: Effect.fnUntraced(function* ({ address: to, bad, text, ...given }) {
    const target = yield* readAddress(to)
    const request = yield* flags.readArguments(CreateWatchRequest, {
      every: given.every,
      name: given.name ?? target.name,
      ...(bad !== undefined && { confirm: { bad } }),
      ...probeWith(target, text),
    })
    const created = yield* onStorage(Watches.use((watches) => watches.create(request)))
    return { answer: created, text: `${created.name}: probed every ${created.every}\n` }
  }),
}).pipe(Command.withDescription("Watch an address: the server probes it, and notifies when it fails"))

const changed = (shown: Watch) => ({
  answer: shown,
  text: `${shown.name}: ${pauseText(shown) || "probed again"}\n`,
})

const pause = act({
  name: "pause",
  parameters: {
    name,
    for: flags.text("for", "How long, such as 90s or 8h, up to 24h (default: until it is resumed)"),
  },
  run: Effect.fnUntraced(function* ({ name: text, ...given }) {
    const watchName = yield* readName(text)
    if (given.for === undefined)
      return changed(
        yield* onStorage(Watches.use((watches) => watches.change(watchName, { is_paused: true }))),
      )
    const request = yield* flags.readArguments(PauseWatchRequest, given)
    return changed(yield* onStorage(Watches.use((watches) => watches.pause(watchName, request))))
  }),
  refused: { NotFound: noSuchWatch },
}).pipe(Command.withDescription("Probe a watch no more, for a time or until it is resumed"))

const resume = act({
  name: "resume",
  parameters: { name },
  run: Effect.fnUntraced(function* ({ name: text }) {
    const watchName = yield* readName(text)
    return changed(
      yield* onStorage(Watches.use((watches) => watches.pause(watchName, { for: Duration.zero }))),
    )
  }),
  refused: { NotFound: noSuchWatch },
}).pipe(Command.withDescription("End the pause of a watch"))

const remove = act({
  name: "remove",
  parameters: { name, yes: flags.yes },
  run: Effect.fnUntraced(function* ({ name: text, yes }) {
    const watchName = yield* readName(text)
    yield* confirm(`this removes the watch ${watchName} with its check and history`, yes)
    const { count } = yield* onStorage(Watches.use((watches) => watches.remove(watchName)))
    if (count === 0) return yield* noSuchWatch({ name: watchName })
    return { answer: { count }, text: `${watchName}: removed\n` }
  }),
}).pipe(Command.withDescription("Remove a watch with its check and history"))

const show = act({
  name: "show",
  parameters: { name },
  run: Effect.fnUntraced(function* ({ name: text }) {
    const watchName = yield* readName(text)
    const shown = yield* onStorage(Watches.use((watches) => watches.get(watchName)))
    const { confirm: limits, every, last, status } = shown
    const lines = [
      `${shown.name}: ${status ?? "not probed yet"}`,
      `  target   ${targetOf(shown)}`,
      `  probed   every ${every}; ${limits.bad} failures and ${limits.good} success in a row count`,
      ...(last === null ? [] : [`  latest   ${Instant.format(last.at)} ${last.output}`]),
      ...(shown.is_paused ? [`  pause    ${pauseText(shown)}`] : []),
      `  created  by ${shown.is_of_policy ? "the policy" : shown.created_by}`,
    ]
    return { answer: shown, text: `${lines.join("\n")}\n` }
  }),
  refused: { NotFound: noSuchWatch },
}).pipe(Command.withDescription("Show a watch with its latest probe"))

const tryNow = act({
  name: "try",
  parameters: { address, text: wanted },
  run: Effect.fnUntraced(function* (given) {
    const target = yield* readAddress(given.address)
    const request = yield* flags.readArguments(TryWatchRequest, probeWith(target, given.text))
    const trial = yield* onStorage(Watches.use((watches) => watches.try(request)))
    const { output, status } = trial
    const isOk = status === "ok"
    const message = `the probe of ${given.address} is ${status}`
    return {
      answer: trial,
      text: `${output}\n`,
      ...(!isOk && { failure: new CommandFailure({ exit: "failed", message }) }),
    }
  }),
}).pipe(
  Command.withDescription("Probe an address now, from the running server if it answers, and store nothing"),
)

const columnsAt = (now: Instant.Instant): ReadonlyArray<Column<Watch>> => [
  { title: "WATCH", cell: (shown) => shown.name },
  { title: "STATUS", cell: ({ status }) => status ?? "", isState: true },
  { title: "PROBED", cell: ({ last }) => (last === null ? "" : ageText(last.at, now)), align: "right" },
  { title: "EVERY", cell: ({ every }) => every, align: "right" },
  { title: "TARGET", cell: targetOf, least: 16 },
  { title: "LATEST", cell: (shown) => pauseText(shown) || (shown.last?.output ?? ""), least: 16 },
]

const list = listCommand({
  name: "list",
  filters: {},
  query: (_filters, page) => Watches.use((watches) => watches.list(page)),
  columns: columnsAt,
  of: "watches",
}).pipe(Command.withDescription("List watches with their latest probes"))

/** `tocsin watches` */
export const watches = Command.make("watches").pipe(
  Command.withDescription("List watches, pause, resume or remove them, and try an address"),
  Command.withExamples([
    { command: "tocsin watches pause example.org --for 2h" },
    { command: "tocsin watches try tcp://db.example.org:5432" },
  ]),
  Command.withSubcommands([list, show, pause, resume, remove, tryNow]),
)
