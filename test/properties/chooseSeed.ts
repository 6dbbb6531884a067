import process from "node:process"

const SEED_OF_CI = "20260131"

/**
 * CI tests the same cases each time, so that a failure comes from the change. Other runs use new
 * cases. `PROPERTY_SEED` overrides both.
 */
export default (): void => {
  if (process.env["CI"] !== undefined) process.env["PROPERTY_SEED"] ??= SEED_OF_CI
  const { PROPERTY_SEED: seed = "a new one for each", PROPERTY_RUNS: times = "1" } = process.env
  process.stdout.write(`Properties: PROPERTY_SEED ${seed}, PROPERTY_RUNS ${times}\n`)
}
