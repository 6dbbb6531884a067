import { OutboxState } from "@tocsin/core/contract/Status"
import type { ListName, ListRows, PageRequest } from "@tocsin/core/engine/lists/ListDefinitions"
import type { Query, SqliteConnection } from "../connection/SqliteConnection.ts"
import type { Occurring, ReadRows } from "./ListSource.ts"
import { ListSources } from "./ListSources.ts"
import { pageStatement } from "./pageStatement.ts"

/**
 * Finds the names of notifiers in the outbox: for each state the next greater one each time, so that it takes a look for
 * each name, however many items there are. Which names there are is up to those who bring notifiers.
 */
const FIND_NOTIFIERS = `
  WITH RECURSIVE found (state, notifier) AS (
    SELECT value, (SELECT min(notifier) FROM outbox WHERE state = value) FROM json_each(?)
    UNION ALL
    SELECT state, (SELECT min(notifier) FROM outbox WHERE state = found.state AND notifier > found.notifier)
    FROM found WHERE notifier IS NOT NULL
  )
  SELECT DISTINCT notifier FROM found WHERE notifier IS NOT NULL`

const isOfOneNotifier = (filter: object): boolean => "notifier" in filter && filter.notifier !== undefined

/**
 * Reads pages of lists. Keeps the statements that it has prepared: there is one for each list, sort, direction and set of
 * filters, some hundreds at most.
 */
export class PageReader {
  readonly #connection: SqliteConnection
  readonly #prepared = new Map<string, ReadRows<never>>()
  readonly #notifiers: Query<[string]>

  constructor(connection: SqliteConnection) {
    this.#connection = connection
    this.#notifiers = connection.query(FIND_NOTIFIERS)
  }

  /** The rows of one page; see PageRequest. */
  read<L extends ListName>(request: PageRequest<L>): ReadonlyArray<ListRows[L]> {
    if (request.list !== "outbox" || isOfOneNotifier(request.filter))
      return this.#read(request, { notifiers: [] })
    return this.#connection.snapshot(() => {
      const states = JSON.stringify(OutboxState.literals)
      return this.#read(request, { notifiers: this.#notifiers.all(states).map(([name]) => name) })
    })
  }

  #read<L extends ListName>(request: PageRequest<L>, occurring: Occurring): ReadonlyArray<ListRows[L]> {
    const statement = pageStatement(request, occurring)
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
