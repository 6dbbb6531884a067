import { isNodeNewEnough, nodeRefusal, type Versions } from "@tocsin/contract/formats/nodeVersions"
import process from "node:process"

/** Refuses an older Node.js in words: it lacks parts that everything imported later uses, or ends at some certificates. */
export const requireNode = (versions: Versions): void => {
  if (!isNodeNewEnough(versions)) throw new Error(nodeRefusal("tocsin", versions))
}

requireNode(process.versions)
