import process from "node:process"
import type { ValidationError } from "@tocsin/contract/formats/Errors"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { ActionCountResponse } from "@tocsin/contract/v1/Responses"
import type { Page, PageParameters } from "@tocsin/core/kernel/engine/lists/readPage"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { NotFound, NotPermitted, StateConflict } from "@tocsin/core/kernel/engine/OperationErrors"
import { Effect, Layer, type Stream } from "effect"
import { Command } from "effect/cli"
import { CommandFailure, notFound, refusal } from "../CommandFailure.ts"
import { loadExtensions } from "../extensions/loadExtensions.ts"
import type { Column } from "../output/texts.ts"
import { type BrokenPipe, Output, type OutputFailure, writeResult } from "../output/Output.ts"
import { itemsOf, type ListOptions, type ShownList, writeList } from "../output/writeList.ts"
import * as flags from "./flags.ts"
import { portsOfCommand } from "./UseCases.ts"
import { useUtc } from "./utc.ts"

type Ports = Layer.Success<typeof portsOfCommand>
type Config = Command.Command.Config
type Given<Parameters extends Config> = Command.Command.Config.InferValue<Parameters>

/** The help of a command. */
interface Texts {
  readonly description: string
  /** In the list of commands, instead of the description. */
  readonly short?: string
  readonly examples?: ReadonlyArray<string | Command.Command.Example>
}

interface Described<Name extends string> extends Texts {
  readonly name: Name
}

const described = <Name extends string, Input, Context, E, R>(
  command: Command.Command<Name, Input, Context, E, R>,
  { description, examples = [], short = description }: Texts,
) =>
  command.pipe(
    Command.withDescription(description),
    Command.withShortDescription(short),
    Command.withExamples(
      examples.map((example) => (typeof example === "string" ? { command: example } : example)),
    ),
  )

/** A command that writes its output itself, once the modules of SERVICE_EXTENSIONS are imported. */
export const command = <const Name extends string, const Parameters extends Config, E, R>({
  name,
  parameters,
  run,
  ...texts
}: Described<Name> & {
  readonly parameters: Parameters
  readonly run: (given: Command.Command.Config.Infer<Parameters>) => Effect.Effect<void, E, R>
}) =>
  described(
    Command.make(name, parameters, (given) =>
      Effect.andThen(Effect.andThen(useUtc, loadExtensions(process.env)), run(given)),
    ),
    texts,
  )

/** A command that only has others below it. */
export const group = <
  const Name extends string,
  const Commands extends readonly [Command.Command.Any, ...Array<Command.Command.Any>],
>(
  row: Described<Name> & { readonly commands: Commands },
) => described(Command.make(row.name), row).pipe(Command.withSubcommands(row.commands))

/** The result of a command: the document for programs, and the text for people. */
interface Result {
  readonly answer: unknown
  readonly text: string
  /** For standard error, after the result. */
  readonly note?: string
  readonly failure?: CommandFailure | undefined
}

type ReadError = BrokenPipe | CommandFailure | Layer.Error<typeof portsOfCommand> | OutputFailure

type ActError = NotFound | NotPermitted | ReadError | StateConflict | StorageError | ValidationError

interface Act<Name extends string, Parameters extends Config, Taken> extends Described<Name> {
  readonly parameters: Parameters
  /** Reads the arguments, and asks; before the storage is opened, so that mistakes need none. */
  readonly reads?: (given: Given<Parameters>) => Effect.Effect<Taken, ReadError, Output>
  /** The failures of refusals; their messages are the use case's unless given. */
  readonly refused?: {
    readonly NotFound?: (given: Given<Parameters>) => CommandFailure
    readonly StateConflict?: (given: Given<Parameters>) => CommandFailure
  }
}

/** Services of the core, which a command names, so that it loads no others. */
type Uses<Services> = Layer.Layer<Services, ReadError, Output | Ports>

/** A command with one result of the storage, which it writes as text or as JSON. */
export const actOn =
  <Services>(uses: Uses<Services>) =>
  <const Name extends string, const Parameters extends Config, Taken = Given<Parameters>>({
    parameters,
    // Without it, what is taken is what is given.
    reads = (given) => Effect.succeed(given as Taken),
    refused = {},
    ...row
  }: Act<Name, Parameters, Taken>) =>
  (
    run: (
      taken: Taken,
      given: Given<Parameters>,
    ) => Effect.fn.Return<Result, ActError, Output | Ports | Services>,
  ) =>
    command({
      ...row,
      parameters: { parameters, json: flags.json },
      run: Effect.fnUntraced(function* ({ json, parameters: given }) {
        yield* flags.oneFormat({ ...given, json })
        const taken = yield* reads(given)
        const { answer, failure, note, text } = yield* Effect.gen(() => run(taken, given)).pipe(
          Effect.provide(Layer.provideMerge(uses, portsOfCommand)),
          Effect.catchTags({
            NotFound: ({ message }) => Effect.fail(refused.NotFound?.(given) ?? notFound(message)),
            NotPermitted: ({ message }) => Effect.fail(refusal(message)),
            StateConflict: ({ message }) => Effect.fail(refused.StateConflict?.(given) ?? refusal(message)),
          }),
        )
        yield* writeResult(json, answer, () => text)
        if (note !== undefined) yield* (yield* Output).note(note)
        if (failure !== undefined) return yield* failure
      }),
    })

/** The same without such services. */
export const act = actOn(Layer.empty)

/**
 * Acts on one row after another; those that it leaves out, with a failure for each, stop no others. The failure is
 * that of the whole command.
 */
export const actOnEach = Effect.fnUntraced(function* <Id, E, R>(
  ids: ReadonlyArray<Id>,
  actOnOne: (id: Id) => Effect.Effect<ActionCountResponse, CommandFailure | E, R>,
) {
  const failures: Array<CommandFailure> = []
  const items = yield* Effect.forEach(ids, (id) =>
    Effect.matchEffect(actOnOne(id), {
      onSuccess: ({ count }) => Effect.succeed({ id, count, error: null }),
      onFailure: (error) => {
        if (!(error instanceof CommandFailure)) return Effect.fail(error)
        failures.push(error)
        return Effect.succeed({ id, count: 0, error: error.message })
      },
    }),
  )
  if (failures.length === 0) return { items, failure: undefined }
  const exit = failures.some((failure) => failure.exit === "not_found") ? "not_found" : "refused"
  const message = failures.map((failure) => failure.message).join("\n")
  return { items, failure: new CommandFailure({ exit, message }) }
})

interface List<Name extends string, Filters extends Config, Item, E, R> extends Described<Name> {
  readonly filters: Filters
  /** Refuses filters before the storage is opened. */
  readonly check?: (given: Given<Filters>) => Effect.Effect<unknown, CommandFailure>
  readonly query: (given: Given<Filters>, page: PageParameters) => Effect.Effect<Page<Item>, E, R>
  /** The rows in another order than the storage's. */
  readonly arrange?: (items: Stream.Stream<Item, E, R>, given: Given<Filters>) => Stream.Stream<Item, E, R>
  readonly columns: (now: Instant.Instant) => ReadonlyArray<Column<Item>>
  /** Another result than the list, if the filters ask for one. */
  readonly instead?: (
    given: Given<Filters>,
    shown: ListOptions,
  ) => ReturnType<typeof writeList<never, E, R>> | undefined
  /** Follows the rows, but in CSV. */
  readonly further?: (given: Given<Filters>) => NonNullable<ShownList<Item, E, R>["further"]>
  readonly of: string
  /** Its columns as CSV. */
  readonly csv: string
}

const ORDER = new Set(["sort", "direction"])

/** A command that lists rows, as a table, as JSON or as CSV. */
export const listOn =
  <Services>(uses: Uses<Services>) =>
  <const Name extends string, const Filters extends Config, Item, E>({
    arrange = (items) => items,
    check = () => Effect.void,
    columns,
    csv,
    filters,
    further,
    instead,
    of,
    query,
    ...row
  }: List<Name, Filters, Item, E, Output | Ports | Services>) =>
    command({
      ...row,
      parameters: { filters, shown: flags.list },
      run: Effect.fnUntraced(function* ({ filters: given, shown }) {
        yield* check(given)
        yield* flags.oneFormat(shown)
        const listed = Effect.gen(function* () {
          const other = instead?.(given, shown)
          if (other !== undefined) return yield* other
          const items = arrange(
            itemsOf((page) => query(given, page)),
            given,
          )
          const isFiltered = Object.entries(given).some(
            ([name, value]) => !ORDER.has(name) && value !== undefined && value !== false,
          )
          const none = isFiltered ? `${of} with these options` : of
          const list = { items, columns: columns(yield* Instant.now), csv, none, of }
          return yield* writeList({ ...list, ...(further && { further: further(given) }) }, shown)
        })
        return yield* Effect.provide(listed, Layer.provideMerge(uses, portsOfCommand))
      }),
    })

/** The same without such services. */
export const listCommand = listOn(Layer.empty)
