/** Texts by key; `undefined` deletes the key. */
export type Entries = ReadonlyMap<string, string | undefined>

/**
 * Your own store for a monitor's state: it keeps texts by key and can change several of them
 * atomically. Keys have up to about 700 characters, values up to about 20 kB, both printable JSON.
 *
 * Tocsin also holds all state in memory and reads it there: about 1 kB for each check and each kept
 * change. It reads the store only at the start, so one process owns it: refuse to open it twice.
 */
export interface KeyValueStore {
  /** All entries, each key once, in any order. Called once, before anything else. */
  readonly load: () => AsyncIterable<readonly [string, string]> | Iterable<readonly [string, string]>
  /**
   * Makes all of these changes or none, and resolves once they survive a power failure. Never
   * called again before it has settled. If it rejects, it may or may not have made them, but makes
   * none later: the call behind it fails, and the next write restores the former values.
   */
  readonly write: (changes: Entries) => Promise<void>
  /** Closes the store, after everything else. */
  readonly close?: () => Promise<void>
}
