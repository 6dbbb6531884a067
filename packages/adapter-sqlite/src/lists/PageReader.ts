import type { ListName, ListRows } from "@tocsin/core/lists/ListDefinitions"
import type { PageRequest } from "@tocsin/core/lists/PageRequest"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import type { ReadRows } from "./ListSource.ts"
import { ListSources } from "./ListSources.ts"
import { pageStatement } from "./pageStatement.ts"

/**
 * Reads pages of lists. Keeps the statements that it has prepared: there is one for each list, sort, direction and set of
 * filters, some hundreds at most.
 */
export class PageReader {
  readonly #connection: SqliteConnection
  readonly #prepared = new Map<string, ReadRows<never>>()

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  /** The rows of one page; see PageRequest. */
  read<L extends ListName>(request: PageRequest<L>): ReadonlyArray<ListRows[L]> {
    const statement = pageStatement(request)
    return statement === undefined ? [] : this.#prepare(request.list, statement.sql)(statement.values)
  }

  #prepare<L extends ListName>(list: L, sql: string): ReadRows<L> {
    // A statement's text names the table of its list, so it never reads rows of another one.
    const known = this.#prepared.get(sql) as ReadRows<L> | undefined
    if (known !== undefined) return known
    const prepared = ListSources[list].prepare(this.#connection, sql)
    this.#prepared.set(sql, prepared as ReadRows<never>)
    return prepared
  }
}
