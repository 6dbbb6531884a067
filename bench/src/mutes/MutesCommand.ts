import type { StorageName } from "../processes/tocsin.ts"

/** A command of the process that opens incidents, each time on an empty storage. */
export interface MutesCommand {
  readonly storage: StorageName
  /** A file of SQLite, or an address of PostgreSQL. */
  readonly place: string
  readonly seconds: number
  /** Whether events look for silences as in the service, or are answered at once that there is none. */
  readonly looksForSilences: boolean
}
