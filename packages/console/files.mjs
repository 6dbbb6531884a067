// The files that the server loads. In its bundle a module with the same export and the finished
// texts stands here (scripts/bundleProgram.mjs), so that no bundler runs where the server does.
import { bundleConsole } from "./bundle.mjs"

/** The page's program and style. */
export const files = async () => {
  const { modules: _, ...texts } = await bundleConsole()
  return texts
}
