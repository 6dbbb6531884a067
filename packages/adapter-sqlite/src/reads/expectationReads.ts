import type { Storage, StorageError } from "@tocsin/core/ports/Storage"
import type { Effect } from "effect"
import type { Tables } from "../tables/makeTables.ts"

/** Reads of expectations, and of the checks that they are about. */
export const expectationReads = (
  tables: Pick<Tables, "checks" | "expectations">,
  read: <A>(use: () => A) => Effect.Effect<A, StorageError>,
): Pick<Storage["Service"], "dueExpectations" | "expectations" | "checks"> => ({
  dueExpectations: ({ after, limit, now }) => read(() => tables.expectations.due(now, after, limit)),
  expectations: (checks) => read(() => checks.flatMap((ref) => tables.expectations.find(ref) ?? [])),
  checks: (checks) => read(() => checks.flatMap((ref) => tables.checks.find(ref) ?? [])),
})
