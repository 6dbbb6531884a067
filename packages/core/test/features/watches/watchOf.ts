import { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { WatchRecord } from "../../../src/features/watches/WatchRecord.ts"

/** A watch that was never probed, with changes. */
export const watchOf = (given: Partial<WatchRecord>): WatchRecord => ({
  name: CheckId.make("page"),
  every_millis: 60_000,
  confirm: { bad: 2, good: 1 },
  probe: { http: { url: "http://page.example/" } },
  headers: undefined,
  places: undefined,
  labels: undefined,
  origin: "operator",
  title: undefined,
  paused_until: undefined,
  created_at: Instant.fromMillis(0),
  created_by: "ann",
  next_probe_at: Instant.fromMillis(0),
  probed_at: undefined,
  status: undefined,
  output: undefined,
  counted: undefined,
  counted_at: undefined,
  against: 0,
  ...given,
})
