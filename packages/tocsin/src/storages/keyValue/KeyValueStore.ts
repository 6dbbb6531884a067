/** Texts to be kept under their keys; `undefined` deletes what is kept under that key. */
export type Entries = ReadonlyMap<string, string | undefined>

/**
 * What a person implements to keep a monitor's state in a store of their own: anything that holds texts by key and can
 * change several of them at once. Keys are at most some 700 characters, values some 20 kB, printable JSON both.
 *
 * All state is held in memory too and read from there, so the store is read at the start alone, and one process owns it: a
 * store that another process has open must refuse. About 1 kB of memory for each check and each kept change.
 */
export interface KeyValueStore {
  /** All that is kept, each key once, in any order. Called once, first. */
  readonly load: () => AsyncIterable<readonly [string, string]> | Iterable<readonly [string, string]>
  /**
   * Makes all of these changes, or none of them, and resolves once they would outlive a power failure. Not called again
   * before it has settled. Where it rejects, none may have been made: the call behind it fails, and later ones try again.
   */
  readonly write: (changes: Entries) => Promise<void>
  /** Lets go of the store, last of all. */
  readonly close?: () => Promise<void>
}
