import { headlineOf } from "@tocsin/contract/formats/headline"
import { addressOfWatch, watchOfAddress, WATCH_ADDRESSES } from "@tocsin/contract/watches/watchOfAddress"
import { HERE, type WatchPlace } from "@tocsin/contract/watches/places"
import {
  watchColumns,
  CreateWatchRequest,
  PauseWatchRequest,
  TryWatchRequest,
  type Watch,
  WatchPath,
} from "@tocsin/contract/watches/Watches"
import { Watches } from "@tocsin/core/features/watches/Watches"
import { Duration, Effect, Schema, Struct } from "effect"
import { failure, notFound, usageFailure } from "../../CommandFailure.ts"
import { ageText, type Column, timeText, titledText } from "../../output/texts.ts"
import { actOn, group, listOn } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"
import { watchesOfCommand } from "./watchesOfCommand.ts"

const name = flags.argument("NAME", "The name of a watch, as tocsin watches list shows it")

const noSuchWatch = (given: { readonly name: string }) =>
  notFound(`there is no watch ${given.name}: list watches with tocsin watches list`)

const address = flags.argument("ADDRESS", `The target: ${WATCH_ADDRESSES}`)
const wanted = flags.text("text", "A text that the page must contain")

interface Target {
  readonly address: string
  readonly text: string | undefined
}

/** The name and the probe of an address, with the options of pages. */
const readTarget = Effect.fnUntraced(function* ({ address: given, text }: Target) {
  const watch = watchOfAddress(given)
  if (watch === undefined) return yield* usageFailure(`the target must be ${WATCH_ADDRESSES}`)
  const { name: usual, probe } = watch
  return { usual, probe: "http" in probe && text !== undefined ? { http: { ...probe.http, text } } : probe }
})

const pauseText = ({ is_paused, paused_until }: Watch): string => {
  if (!is_paused) return ""
  return paused_until === null ? "paused" : `paused until ${timeText(paused_until)}`
}

const tried = Effect.fnUntraced(function* (request: TryWatchRequest, to: string) {
  const trial = yield* Watches.use((watches) => watches.try(request))
  const { output, status } = trial
  return {
    answer: trial,
    text: `${output}\n`,
    ...(status !== "ok" && { failure: failure(`the probe of ${to} is ${status}`) }),
  }
})

export const watch = actOn(watchesOfCommand)({
  name: "watch",
  description: "Watch an address: the server probes it, and notifies when it fails",
  parameters: {
    address,
    name: flags.text(
      "name",
      "The name of the watch and its check (default: from the title, or else the address)",
    ),
    title: flags.text("title", "What people call it"),
    every: flags.text("every", "The time from one probe to the next, from 10s to 1d (default: 1m)"),
    bad: flags.integer("bad", "How many failures in a row count (default: 2)"),
    from: flags.text(
      "from",
      "Where to probe it: here and IDs of agents, such as here,berlin (default: here)",
    ),
    fails: flags.text(
      "fails",
      "How many of them must fail: majority, any, all or a number (default: majority)",
    ),
    text: wanted,
    try: flags.flag("try", "Probe it once now and store nothing"),
  },
  reads: Effect.fnUntraced(function* (given) {
    const { probe, usual } = yield* readTarget(given)
    return yield* flags.readArguments(CreateWatchRequest, {
      every: given.every,
      ...(given.title === undefined ? { name: given.name ?? usual } : Struct.pick(given, ["name", "title"])),
      ...(given.bad !== undefined && { confirm: { bad: given.bad } }),
      from: given.from?.split(","),
      fails: given.fails !== undefined && /^\d+$/.test(given.fails) ? Number(given.fails) : given.fails,
      ...probe,
    })
  }),
})(function* (request, { address: to, try: isTrial }) {
  if (isTrial) return yield* tried(request, to)
  const created = yield* Watches.use((watches) => watches.create(request))
  const from = isHereAlone(created) ? "" : ` from ${created.from.join(", ")}`
  return { answer: created, text: `${created.name}: probed every ${created.every}${from}\n` }
})

const isHereAlone = ({ from }: Watch): boolean => from.length === 1 && from[0] === HERE

const placeText = ({ at, counts, place, status }: WatchPlace): string =>
  `  ${place}: ${status ?? "unconfirmed"}${at === null ? ", not heard" : `, ${timeText(at)}`}${counts ? "" : "; it does not count"}`

const changed = (shown: Watch) => ({
  answer: shown,
  text: `${shown.name}: ${pauseText(shown) || "probed again"}\n`,
})

const pause = actOn(watchesOfCommand)({
  name: "pause",
  description: "Probe a watch no more, for a time or until it is resumed",
  parameters: {
    name,
    for: flags.text("for", "How long, such as 90s or 8h, up to 24h (default: until it is resumed)"),
  },
  reads: flags.reader(
    Schema.Struct({ ...WatchPath.fields, for: Schema.optionalKey(PauseWatchRequest.fields.for) }),
  ),
  refused: { NotFound: noSuchWatch },
})(function* ({ name: of, for: time }) {
  const { change, pause: pauseFor } = yield* Watches
  return changed(yield* time === undefined ? change(of, { is_paused: true }) : pauseFor(of, { for: time }))
})

const resume = actOn(watchesOfCommand)({
  name: "resume",
  description: "End the pause of a watch",
  parameters: { name },
  reads: flags.reader(WatchPath),
  refused: { NotFound: noSuchWatch },
})(function* ({ name: of }) {
  return changed(yield* Watches.use((watches) => watches.pause(of, { for: Duration.zero })))
})

const entitle = actOn(watchesOfCommand)({
  name: "title",
  description: "Give a watch and its check a title; an empty one takes it back",
  parameters: { name, title: flags.titleArgument },
  reads: Effect.fnUntraced(function* ({ name: text, title: given }) {
    const named = yield* flags.readArguments(WatchPath, { name: text })
    return { ...named, title: yield* flags.titleIn(given) }
  }),
  refused: { NotFound: noSuchWatch },
})(function* ({ name: of, title }) {
  const answer = yield* Watches.use((watches) => watches.change(of, { title }))
  return { answer, text: titledText(of, title) }
})

const remove = actOn(watchesOfCommand)({
  name: "remove",
  description: "Remove a watch with its check and history",
  parameters: { name, yes: flags.yes },
  reads: flags.confirmed(
    WatchPath,
    (given) => `this removes the watch ${given.name} with its check and history`,
  ),
})(function* (given) {
  const { count } = yield* Watches.use((watches) => watches.remove(given.name))
  if (count === 0) return yield* noSuchWatch(given)
  return { answer: { count }, text: `${given.name}: removed\n` }
})

const show = actOn(watchesOfCommand)({
  name: "show",
  description: "Show a watch with its latest probe",
  parameters: { name },
  reads: flags.reader(WatchPath),
  refused: { NotFound: noSuchWatch },
})(function* (given) {
  const shown = yield* Watches.use((watches) => watches.get(given.name))
  const { confirm: limits, every, last, status } = shown
  const lines = [
    `${shown.name}: ${status ?? "not probed yet"}`,
    `  target   ${addressOfWatch(shown)}`,
    `  probed   every ${every}; ${limits.bad} failures and ${limits.good} success in a row count`,
    ...(isHereAlone(shown) ? [] : [`  from     ${shown.from.join(", ")}; ${shown.fails} of them must fail`]),
    ...(last === null ? [] : [`  latest   ${timeText(last.at)} ${last.output.split("\n", 1).join()}`]),
    ...(shown.secrets === undefined ? [] : [`  secrets  ${shown.secrets.join(", ")}`]),
    ...(shown.is_paused ? [`  pause    ${pauseText(shown)}`] : []),
    `  created  by ${shown.is_of_policy ? "the policy" : shown.created_by}`,
    ...(isHereAlone(shown) ? [] : (shown.places ?? []).map(placeText)),
  ]
  return { answer: shown, text: `${lines.join("\n")}\n` }
})

const tryNow = actOn(watchesOfCommand)({
  name: "try",
  description: "Probe an address now, from the running server if it answers, and store nothing",
  parameters: { address, text: wanted },
  reads: (given) =>
    Effect.flatMap(readTarget(given), ({ probe }) => flags.readArguments(TryWatchRequest, probe)),
})(function* (request, { address: to }) {
  return yield* tried(request, to)
})

const list = listOn(watchesOfCommand)({
  name: "list",
  description: "List watches with their latest probes",
  filters: {},
  query: (_, page) => Watches.use((watches) => watches.list(page)),
  columns: (now): ReadonlyArray<Column<Watch>> => [
    { title: "WATCH", cell: (shown) => shown.name },
    { title: "TITLE", cell: ({ title }) => title ?? "", isOptional: true, least: 12 },
    { title: "STATUS", cell: ({ status }) => status ?? "", isState: true },
    { title: "PROBED", cell: ({ last }) => ageText(last?.at, now), align: "right" },
    { title: "EVERY", cell: ({ every }) => every, align: "right" },
    { title: "TARGET", cell: addressOfWatch, least: 16 },
    {
      title: "LATEST",
      cell: (shown) => pauseText(shown) || (headlineOf(shown.last?.output) ?? ""),
      least: 16,
    },
  ],
  of: "watches",
  csv: watchColumns,
})

export const watches = group({
  name: "watches",
  description: "List watches, title, pause, resume or remove them, and try an address",
  examples: ["tocsin watches pause example.org --for 2h", "tocsin watches try tcp://db.example.org:5432"],
  commands: [list, show, entitle, pause, resume, remove, tryNow],
})
