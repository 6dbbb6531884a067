import type { BatchOutcome } from "../checks/applyBatch.ts"
import type { EventBatchRequest } from "../contract/EventBatchRequest.ts"
import type { Instant } from "../contract/Instant.ts"
import type { Instruments } from "../metrics/Instruments.ts"

const MICROS_PER_SECOND = 1_000_000

type IngestInstruments = Pick<Instruments, "heartbeats" | "batches" | "results" | "resultLag">

/** Counts what agents send, by what became of it. */
export class IngestMeter {
  readonly #instruments: IngestInstruments

  constructor(instruments: IngestInstruments) {
    this.#instruments = instruments
  }

  heartbeat(outcome: keyof Instruments["heartbeats"]): void {
    this.#instruments.heartbeats[outcome].value += 1
  }

  /** `now`: when the batch arrived. Its results' lag is counted only where they were taken. */
  batch({ events }: EventBatchRequest, result: BatchOutcome, now: Instant): void {
    const { batches, resultLag, results } = this.#instruments
    batches[result.outcome].value += 1
    if (result.outcome !== "applied") return
    for (const outcome of result.events) results[outcome].value += 1
    // As numbers, which hold microseconds exactly for two centuries more: the difference of bigints is an object each.
    const arrived = Number(now)
    for (const { observed_at } of events)
      resultLag.observe((arrived - Number(observed_at)) / MICROS_PER_SECOND)
  }
}
