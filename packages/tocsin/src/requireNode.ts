import process from "node:process"

const OLDEST = 24

/** Refuses an older Node.js in words: it lacks parts that everything imported later uses. */
export const requireNode = ({ node = "" }: Readonly<Record<string, string | undefined>>): void => {
  if (Number.parseInt(node, 10) < OLDEST)
    throw new Error(`tocsin needs Node.js ${OLDEST} or newer, and this is ${node}: update Node.js`)
}

requireNode(process.versions)
