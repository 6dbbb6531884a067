import type { Simulated } from "./simulateSystem.ts"

/** A seed that breaks a law: how to repeat it, its scenario, and what is broken. */
export const scenarioOf = ({ broken, log, seed }: Simulated): string =>
  [
    ...log,
    "",
    `Seed ${seed} breaks ${broken.length} laws. Repeat it: npm run simulate-faults -- --seed ${seed}`,
    ...broken.map((line) => `  ${line}`),
  ].join("\n")
