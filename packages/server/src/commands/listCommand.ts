import * as Instant from "@tocsin/contract/Instant"
import type { Page, PageParameters } from "@tocsin/core/engine/lists/readPage"
import { Effect, type Layer, type Stream } from "effect"
import { Command } from "effect/cli"
import type { Column } from "../output/makeTable.ts"
import { itemsOf, type ListOptions, writeList } from "../output/writeList.ts"
import * as flags from "./flags.ts"
import { useCases } from "./UseCases.ts"

type Services = Layer.Success<typeof useCases>

/** A list as data: what narrows it, who reads a page of it, and its columns. */
interface List<Name extends string, Filters extends Command.Command.Config, Item, E> {
  readonly name: Name
  readonly filters: Filters
  readonly query: (
    filters: Command.Command.Config.InferValue<Filters>,
    page: PageParameters,
  ) => Effect.Effect<Page<Item>, E, Services>
  /** The rows in another order than the storage's. */
  readonly arrange?: (
    items: Stream.Stream<Item, E, Services>,
    filters: Command.Command.Config.InferValue<Filters>,
  ) => Stream.Stream<Item, E, Services>
  readonly columns: (now: Instant.Instant) => ReadonlyArray<Column<Item>>
  /** Another result than the list, if the filters ask for one. */
  readonly instead?: (
    filters: Command.Command.Config.InferValue<Filters>,
    shown: ListOptions,
  ) => ReturnType<typeof writeList<never, E, Services>> | undefined
  /** The listed things, in the plural. */
  readonly of: string
}

/** A command that lists rows, as a table or as JSON. */
export const listCommand = <
  const Name extends string,
  const Filters extends Command.Command.Config,
  Item,
  E,
>({
  arrange = (items) => items,
  columns,
  filters,
  instead,
  name,
  of,
  query,
}: List<Name, Filters, Item, E>) =>
  Command.make(
    name,
    { filters, shown: flags.list },
    Effect.fnUntraced(function* (given) {
      const other = instead?.(given.filters, given.shown)
      if (other !== undefined) return yield* other
      const items = itemsOf((page) => query(given.filters, page))
      const rows = { items: arrange(items, given.filters), columns: columns(yield* Instant.now), of }
      return yield* writeList(rows, given.shown)
    }, Effect.provide(useCases)),
  )
