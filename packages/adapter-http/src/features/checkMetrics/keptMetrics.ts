import type { AgentId, CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { CheckMetric } from "@tocsin/core/features/checkMetrics/checkMetrics"
import type { CheckRef } from "@tocsin/core/kernel/model/CheckRef"
import { Stream } from "effect"

/** So many bytes are kept; of a server with more checks, the others are read again. 20,000 usual checks take 2 MiB. */
const MOST_BYTES = 4_194_304

/** A check without its title and labels; its agent stands at the first of its checks. */
type Kept = readonly [
  check: CheckId,
  isLate: boolean,
  last: readonly [status: CheckStatus, received: number, measured: number] | 0,
  agent?: readonly [AgentId, RegistrationId],
]

const write = (metrics: ReadonlyArray<CheckMetric>): string =>
  JSON.stringify(
    metrics.map(({ isLate, last, ref: { agent_id, check_id, registration_id } }, at): Kept => {
      const result = last && ([last.status, Number(last.received_at), Number(last.measured_at)] as const)
      const isOfFormer = registration_id === metrics[at - 1]?.ref.registration_id
      const kept = [check_id, isLate, result ?? 0] as const
      return isOfFormer ? kept : [...kept, [agent_id, registration_id]]
    }),
  )

const instantOf = (micros: number): Instant.Instant => Instant.fromMicros(BigInt(micros))

const read = (text: string): ReadonlyArray<CheckMetric> => {
  // These were written from the same types.
  const all = JSON.parse(text) as ReadonlyArray<Kept>
  let ofFormer: Kept[3]
  return all.flatMap(([check_id, isLate, result, agent = ofFormer]): ReadonlyArray<CheckMetric> => {
    if (agent === undefined) return []
    ofFormer = agent
    const [agent_id, registration_id] = agent
    const last =
      result === 0
        ? undefined
        : { status: result[0], received_at: instantOf(result[1]), measured_at: instantOf(result[2]) }
    return [{ ref: { agent_id, check_id, registration_id }, title: "", labels: {}, isLate, last }]
  })
}

/**
 * Keeps the checks of an answer for families that come later, as bytes: objects of all checks would take more room, and
 * the garbage collector longer than their lines take.
 */
export const keptMetrics = () => {
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()
  const pieces: Array<Uint8Array> = []
  let room = MOST_BYTES
  let last: CheckRef | undefined
  return {
    /** Keeps the next checks, as long as there is room for all so far. */
    add: (metrics: ReadonlyArray<CheckMetric>): void => {
      if (room < 0) return
      const bytes = encoder.encode(write(metrics))
      room -= bytes.length
      if (room < 0) return
      pieces.push(bytes)
      last = metrics.at(-1)?.ref ?? last
    },
    /** The checks that are kept, in pieces. */
    pieces: Stream.suspend(() => Stream.rechunk(Stream.fromIterable(pieces), 1)).pipe(
      Stream.map((bytes) => read(decoder.decode(bytes))),
    ),
    /** The last check that is kept, if others follow. */
    before: (): { readonly after: CheckRef | undefined } | undefined =>
      room < 0 ? { after: last } : undefined,
  }
}
