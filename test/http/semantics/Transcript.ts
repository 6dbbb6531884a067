import type { Answer } from "../client/Answer.ts"

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g
const HEX = /"[0-9a-f]{16}(?:[0-9a-f]{48})?"/g

const CURSOR = /"(next_cursor|prev_cursor)":"[^"]*"/g

/**
 * Answers in order, with values that differ between runs replaced by names, in order of appearance.
 */
export class Transcript {
  readonly lines: Array<string> = []
  readonly #names = new Map<string, string>()

  /** Adds an answer under the name of its step. */
  add(step: string, { status, text }: Answer): void {
    const normal = text
      .replace(CURSOR, '"$1":"CURSOR"')
      .replace(UUID, (id) => this.#named(id, "id"))
      .replace(HEX, (digits) => `"${this.#named(digits, "hex")}"`)
    this.lines.push(`${step} → ${status} ${normal}`)
  }

  #named(value: string, kind: string): string {
    const name = this.#names.get(value) ?? `${kind}-${this.#names.size + 1}`
    this.#names.set(value, name)
    return name
  }
}
