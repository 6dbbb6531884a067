import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { type Decision, lone } from "@tocsin/core/kernel/unitOfWork/Decision"
import { type Asked, find, type Found, type SearchName } from "@tocsin/core/kernel/unitOfWork/Search"
import type { RowRequest } from "@tocsin/core/kernel/unitOfWork/RowRequest"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import type { Effect } from "effect"
import type { Replica } from "./Replica.ts"
import type { KeyedName, Keys } from "@tocsin/core/lists/StoredTables"
import { transact } from "./transact.ts"

/** Sends row requests in order, then reads from the unit of work that they filled. Changes nothing. */
export const observe = <A>(
  { storage }: Pick<Replica, "storage">,
  rowRequests: ReadonlyArray<RowRequest>,
  read: (unit: UnitOfWork) => A,
): Effect.Effect<A, StorageError> =>
  transact(storage, function* (unit): Decision<A> {
    yield* rowRequests
    return read(unit)
  })

/** Searches, and reads the result and the unit of work. */
export const search = <N extends SearchName, A>(
  { storage }: Pick<Replica, "storage">,
  name: N,
  asked: Asked<N>,
  read: (found: Found<N>, unit: UnitOfWork) => A,
): Effect.Effect<A, StorageError> =>
  transact(
    storage,
    lone(function* (unit) {
      return read(yield* find(name, asked), unit)
    }),
  )

/** The row that has a key, as a decision sees it. */
export const rowOf = <N extends KeyedName>(replica: Pick<Replica, "storage">, name: N, key: Keys[N]) =>
  observe(replica, [{ rows: { [name]: [key] } }], (unit) => unit.of(name).get(key))
