import { agentId } from "./Load.ts"
import type { Stamp } from "./Stamp.ts"
import type { Variables } from "./bodies.ts"

/** The parts that differ between whole requests. */
export interface RequestVariables extends Variables {
  readonly key: string
  /** The number of the check in a report of one check: three digits. */
  readonly check: string
}

/** Placeholders of the same width as the values, of bytes that occur nowhere else in a request. */
const STAND_INS: RequestVariables = {
  agentId: "@".repeat(agentId(0).length),
  time: "#".repeat("2026-01-31T12:34:56.123456Z".length),
  micros: "%".repeat(6),
  idPrefix: "~".repeat(18),
  key: "^".repeat(43),
  check: "|".repeat(3),
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

/** The bytes of a POST of JSON. */
export const httpPost = (address: { host: string; path: string; authorization?: string }, body: string) => {
  const { authorization, host, path } = address
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    "Accept: application/json",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`)
}

/** A whole request, rendered once; the variable parts are overwritten in place. */
export class RequestTemplate {
  readonly #bytes: Buffer
  readonly #agentIds: ReadonlyArray<number>
  readonly #keys: ReadonlyArray<number>
  readonly #times: ReadonlyArray<number>
  readonly #micros: ReadonlyArray<number>
  readonly #idPrefixes: ReadonlyArray<number>
  readonly #checks: ReadonlyArray<number>

  constructor(render: (variables: RequestVariables) => Buffer) {
    this.#bytes = render(STAND_INS)
    this.#agentIds = offsetsOf(this.#bytes, STAND_INS.agentId)
    this.#keys = offsetsOf(this.#bytes, STAND_INS.key)
    this.#times = offsetsOf(this.#bytes, STAND_INS.time)
    this.#micros = offsetsOf(this.#bytes, STAND_INS.micros)
    this.#idPrefixes = offsetsOf(this.#bytes, STAND_INS.idPrefix)
    this.#checks = offsetsOf(this.#bytes, STAND_INS.check)
  }

  /**
   * The request; its bytes are those of the next one, too, so it must have been answered before
   * that is rendered.
   */
  render(agent: AgentBytes, stamp: Stamp, check: Uint8Array): Buffer {
    fill(this.#bytes, this.#agentIds, agent.id)
    fill(this.#bytes, this.#keys, agent.key)
    fill(this.#bytes, this.#times, stamp.time)
    fill(this.#bytes, this.#micros, stamp.micros)
    fill(this.#bytes, this.#idPrefixes, stamp.idPrefix)
    fill(this.#bytes, this.#checks, check)
    return this.#bytes
  }
}
