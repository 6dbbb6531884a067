// The files that the server hands out. In its bundle a module with the same export and the finished
// files stands here (scripts/bundleProgram.mjs), so that no bundler runs where the server does.
import { fileURLToPath } from "node:url"
import { agentFiles } from "../../scripts/build/agentPackage.ts"

/** The installing script without its checksums, and the agent's tarball in base64. */
export const files = async () => {
  const { modules: _, ...made } = await agentFiles(fileURLToPath(new URL("../..", import.meta.url)))
  return made
}
