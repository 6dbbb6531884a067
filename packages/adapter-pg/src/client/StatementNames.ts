/** Each name is a plan kept on every connection of the pool: some tens of kB each, so 200 are a few MB a connection. */
const maxNames = 200

/** Texts seen once are forgotten, oldest first, beyond this many: lists of varying length make endless texts. */
const maxCandidates = 500

/**
 * Gives names to statement texts, so that PostgreSQL parses and plans a repeated one once a connection.
 *
 * A text gets its name when it is seen for the second time, while there are names left, and keeps it: PostgreSQL drops
 * a prepared statement only with its connection, so a name that moved on would leave its plan behind.
 */
export class StatementNames {
  readonly #names = new Map<string, string>()
  readonly #candidates = new Set<string>()

  /** The name to prepare this text under, or `undefined` to run it unnamed. */
  nameOf(text: string): string | undefined {
    const name = this.#names.get(text)
    if (name !== undefined || this.#names.size >= maxNames) return name
    if (this.#candidates.delete(text)) {
      const given = `auto_${this.#names.size + 1}`
      this.#names.set(text, given)
      return given
    }
    this.#candidates.add(text)
    if (this.#candidates.size > maxCandidates) {
      for (const oldest of this.#candidates) {
        this.#candidates.delete(oldest)
        break
      }
    }
    return undefined
  }
}
