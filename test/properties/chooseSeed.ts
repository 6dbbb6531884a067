import process from "node:process"
import { AT_LENGTH } from "./atLength.ts"

const SEED_OF_EACH_RUN = "20260131"

/**
 * `npm test` tests the same cases each time, as CI does, so that a failure comes from the change. Runs at length use
 * new cases. `PROPERTY_SEED` overrides both.
 */
export default (): void => {
  if (process.env["CI"] !== undefined || !AT_LENGTH) process.env["PROPERTY_SEED"] ??= SEED_OF_EACH_RUN
  const { PROPERTY_SEED: seed = "a new one for each", PROPERTY_RUNS: times = "1" } = process.env
  process.stdout.write(`Properties: PROPERTY_SEED ${seed}, PROPERTY_RUNS ${times}\n`)
}
