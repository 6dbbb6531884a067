import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Input } from "./Input.ts"

/** Bytes whose answer was the first of its kind. */
export interface Kept {
  /** The new features of the answers. */
  readonly shows: ReadonlyArray<string>
  readonly writes: Input["writes"]
}

const FILE = join(import.meta.dirname, "corpus.jsonl")

/** Larger ones say no more, and would make the file long. */
const MOST_BYTES = 2_000

/** Reads inputs, one JSON text a line. */
export const readInputs = (file: string = FILE): ReadonlyArray<Kept> =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Kept)

/** Adds inputs to the corpus of the repository. */
export const keepInputs = (found: ReadonlyArray<Kept>): void => {
  const small = found.filter(({ writes }) => writes.join("").length <= MOST_BYTES)
  const lines = [...readInputs(), ...small].map((kept) => `${JSON.stringify(kept)}\n`)
  writeFileSync(FILE, lines.join(""))
}
