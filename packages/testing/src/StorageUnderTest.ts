import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import type { Layer } from "effect"

/** A storage as its suite needs it: where it can live, and how it is reached there. */
export interface StorageUnderTest<Place, E = unknown> {
  /** The name that the tests show. */
  readonly name: string
  /**
   * A place with nothing in it, another one each time it is built: a folder, a database. It goes
   * with its scope. Where the client brings its own, `Layer.empty`.
   */
  readonly place: Layer.Layer<Place, E>
  /** A client of the storage at that place. Two replicas of the service each build it. */
  readonly client: Layer.Layer<Storage, E, Place>
  /** Rejects for a storage that loses what it acknowledged: one failure then stands for all tests. */
  readonly tryFirst?: () => Promise<void>
  /**
   * Why a place cannot have two clients at once. Tests that need two are skipped and print this.
   * Absent where it can.
   */
  readonly onlyOneClient?: string
  /** Why it keeps no numbers over time. Absent where it does. */
  readonly noNumbers?: string
  /**
   * Why a later client does not find the rows of a closed one. Tests that close a storage and open it
   * again are skipped and print this. Absent where rows are kept.
   */
  readonly keepsNothing?: string
  /**
   * Why those are skipped that prove little more of it than others: `reopenSuite`, and suites of decisions over rows that
   * the suites of its tables, lists, claims and random scenarios write and read. Absent where all run.
   */
  readonly sampled?: string
  /** Why clients at one place do not hear of each other by `Storage.hints`. Absent where they do. */
  readonly noHints?: string
}

/** The end of the name of a test of two clients: why it is skipped, if it is. */
export const because = ({ onlyOneClient }: { readonly onlyOneClient?: string }): string =>
  skippedFor(onlyOneClient)

/** The end of a test's name: why it is skipped, if it is. */
export const skippedFor = (reason: string | undefined): string =>
  reason === undefined ? "" : ` (skipped: ${reason})`
