import { hash } from "node:crypto"

/**
 * One step of the schema. Released ones are never changed: a database remembers their checksums, and schema.sql beside
 * the package's manifest is compared by a test.
 */
export interface Migration {
  /** Its place in the order, from 1 without gaps; the number in its file's name. */
  readonly id: number
  readonly name: string
  /** Its statements, run in one transaction with those of all other migrations that are missing. */
  readonly sql: string
}

/** Tells whether a database went through this very migration: SHA-256 of its statements. */
export const checksumOf = ({ sql }: Migration): string => hash("sha256", sql)
