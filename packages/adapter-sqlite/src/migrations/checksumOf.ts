import { hash } from "node:crypto"
import type { Migration } from "@tocsin/core/ports/Migration"

/** Tells whether a database went through this very migration: SHA-256 of its statements. */
export const checksumOf = ({ sql }: Migration): string => hash("sha256", sql)
