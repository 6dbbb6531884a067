import type { Storage, StorageError } from "@tocsin/core/ports/Storage"
import type { Layer } from "effect"

/**
 * Where a monitor keeps its state: the result of `memory`, `sqlite`, `postgres` or `keyValue`.
 * Whoever uses Effect may give a layer of the port instead.
 */
export interface StorageChoice {
  /** What it is, for logs: no address. */
  readonly name: string
  /** The port on it. */
  readonly layer: Layer.Layer<Storage, StorageError>
  /**
   * What is wrong with what it was given, for the message that refuses it; `layer` is not built
   * then.
   */
  readonly problems?: ReadonlyArray<string> | undefined
  /** The clock that all its clients agree on, where it has one. */
  readonly clock?: Layer.Layer<never, StorageError> | undefined
}

/** A storage, in either form. */
export type StorageOption = StorageChoice | Layer.Layer<Storage, StorageError>
