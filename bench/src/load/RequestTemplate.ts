import { agentId } from "./Load.ts"
import type { Stamp } from "./Stamp.ts"
import type { Variables } from "./bodies.ts"

/** Placeholders of the same width as the values, of bytes that occur nowhere else in a request. */
const STAND_INS: Variables & { readonly key: string } = {
  agentId: "@".repeat(agentId(0).length),
  time: "#".repeat("2026-01-31T12:34:56.123456Z".length),
  micros: "%".repeat(6),
  idPrefix: "~".repeat(18),
  key: "^".repeat(43),
}

const offsetsOf = (bytes: Buffer, text: string): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) found.push(at)
  return found
}

const fill = (bytes: Buffer, offsets: ReadonlyArray<number>, value: Uint8Array): void => {
  for (const offset of offsets) bytes.set(value, offset)
}

/** An agent as the bytes that stand in its requests. */
export interface AgentBytes {
  readonly id: Uint8Array
  readonly key: Uint8Array
}

/** A whole request, rendered once; the variable parts are overwritten in place. */
export class RequestTemplate {
  readonly #bytes: Buffer
  readonly #agentIds: ReadonlyArray<number>
  readonly #keys: ReadonlyArray<number>
  readonly #times: ReadonlyArray<number>
  readonly #micros: ReadonlyArray<number>
  readonly #idPrefixes: ReadonlyArray<number>

  constructor(host: string, path: string, render: (variables: Variables) => string) {
    const body = render(STAND_INS)
    const head = [
      `POST ${path} HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${STAND_INS.key}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
    ]
    this.#bytes = Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`)
    this.#agentIds = offsetsOf(this.#bytes, STAND_INS.agentId)
    this.#keys = offsetsOf(this.#bytes, STAND_INS.key)
    this.#times = offsetsOf(this.#bytes, STAND_INS.time)
    this.#micros = offsetsOf(this.#bytes, STAND_INS.micros)
    this.#idPrefixes = offsetsOf(this.#bytes, STAND_INS.idPrefix)
  }

  /**
   * The request; its bytes are those of the next one, too, so it must have been answered before
   * that is rendered.
   */
  render(agent: AgentBytes, stamp: Stamp): Buffer {
    fill(this.#bytes, this.#agentIds, agent.id)
    fill(this.#bytes, this.#keys, agent.key)
    fill(this.#bytes, this.#times, stamp.time)
    fill(this.#bytes, this.#micros, stamp.micros)
    fill(this.#bytes, this.#idPrefixes, stamp.idPrefix)
    return this.#bytes
  }
}
