/** Collects the parameters of one statement: each value becomes `$1`, `$2` and so on in its text. */
export class Parameters {
  readonly #values: Array<unknown> = []

  /** The values, in the order of their numbers. */
  get values(): ReadonlyArray<unknown> {
    return this.#values
  }

  /** Notes a value, and returns what stands for it in the text, cast to `type`. */
  add(value: unknown, type: "text" | "text[]" | "int2[]" | "int8"): string {
    this.#values.push(value)
    return `$${this.#values.length}::${type}`
  }
}
