import process from "node:process"

const SEED_OF_CI = "20260131"

/**
 * CI tests the same cases each time, so that what fails there is what was changed; anywhere else
 * each run draws cases of its own. `PROPERTY_SEED` decides in both.
 */
export default (): void => {
  if (process.env["CI"] !== undefined) process.env["PROPERTY_SEED"] ??= SEED_OF_CI
  const { PROPERTY_SEED: seed = "a new one for each", PROPERTY_RUNS: times = "1" } = process.env
  process.stdout.write(`Properties: PROPERTY_SEED ${seed}, PROPERTY_RUNS ${times}\n`)
}
