import process from "node:process"

const { PROPERTY_RUNS: times = "1", PROPERTY_SEED: seed } = process.env

/** How many times as often as usual properties run: `PROPERTY_RUNS` in the environment. */
export const RUNS_FACTOR = Number(times)

/** How often a property runs that usually runs `usual` times. */
export const propertyRuns = (usual: number): number => Math.ceil(usual * RUNS_FACTOR)

/** The seed of all properties: `PROPERTY_SEED` in the environment. Without it, each uses a new seed. */
export const propertySeed: number | undefined = seed === undefined ? undefined : Number(seed)
