import type { AgentRecord } from "@tocsin/core/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/model/CheckRecord"
import type { AgentId } from "@tocsin/contract/Identifiers"
import type { RowRequest } from "@tocsin/core/engine/unitOfWork/RowRequest"
import { UnitOfWork } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import type { PgClient } from "../client/PgClient.ts"

/** `xmin` of a stored row: the low 32 bits of the id of the transaction that wrote it. */
export type RowVersion = number

/** The versions of the rows that a transaction loaded. */
export interface RowVersions {
  /** By row. Rows are immutable, so a row of the unit of work that is found here is unchanged. */
  readonly rows: Map<AgentRecord | CheckRecord, RowVersion>
  /** Of agents as the transaction found them. */
  readonly agents: Map<AgentId, RowVersion>
}

/** Where a transaction loads rows from, and where to. */
export interface Loading {
  readonly pg: PgClient["Service"]
  readonly unit: UnitOfWork
  readonly versions: RowVersions
}

/** Requests that load together: one request of a command, or one of each command of a group. */
export type Requests = ReadonlyArray<RowRequest>

/** The ids that several requests name in one of their parts. */
export const all = <Id>(
  requests: Requests,
  part: (request: RowRequest) => ReadonlyArray<Id> | undefined,
): ReadonlyArray<Id> => requests.flatMap((request) => part(request) ?? [])

/** A transaction that has loaded nothing yet. */
export const beginLoading = (pg: PgClient["Service"]): Loading => ({
  pg,
  unit: new UnitOfWork(),
  versions: { rows: new Map(), agents: new Map() },
})
