// Imports nothing: programs ask it before they import what an older Node.js cannot read.

/**
 * The first Node.js of a major version that reads every valid certificate: those before end the process at an uncommon,
 * valid kind of key. Tried: 24.21.0, 24.22.0, 25.9.0 and 26.10.0 end, 24.22.3 and 26.12.1 do not.
 */
const REPAIRED = { 24: [22, 1], 25: [Infinity, 0], 26: [12, 0] } as const

/** The same for `engines` of a package, and in words. */
export const NODE_RANGE = "^24.22.1 || >=26.12.0"
const NODE_WANTED = "Node.js 24.22.1 or newer (of 26: 26.12 or newer)"

const OLDEST = 24

/** The versions that a runtime names (`process.versions`). */
export type Versions = Readonly<Record<string, string | undefined>>

/** Whether a runtime has what Tocsin needs. Bun and Deno name a Node.js too, and read certificates their own way. */
export const isNodeNewEnough = ({ node = "", bun, deno }: Versions): boolean => {
  const [major = 0, minor = 0, patch = 0] = node.split(".").map((part) => Number.parseInt(part, 10))
  const [firstMinor, firstPatch] = REPAIRED[major as keyof typeof REPAIRED] ?? [0, 0]
  const isRepaired = minor > firstMinor || (minor === firstMinor && patch >= firstPatch)
  return major >= OLDEST && (isRepaired || bun !== undefined || deno !== undefined)
}

/** The words of a program that refuses a Node.js. */
export const nodeRefusal = (program: string, { node = "" }: Versions): string =>
  `${program} needs ${NODE_WANTED}, and this is ${node}: update Node.js`
