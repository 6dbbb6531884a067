import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

const folder = fileURLToPath(new URL("src", import.meta.url))

/** The style sheets in their order, by name, without comments and indentation. */
const styleText = () =>
  readdirSync(join(folder, "style"))
    .filter((name) => name.endsWith(".css"))
    .sort()
    .map((name) => readFileSync(join(folder, "style", name), "utf8"))
    .join("\n")
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .trim()

/** The pages of the documentation that the console links. */
const PAGES = ["agent.md", "notifications.md", "on-call.md", "policy.md"]

const pageTexts = () =>
  Object.fromEntries(PAGES.map((name) => [name, readFileSync(join(folder, "../../../docs", name), "utf8")]))

/** Axes of times are drawn by the page itself: the library's take a tenth of it. */
const TIME_AXES = /= genTimeStuffs\([^)]+\)/g

const withoutTimeAxes = {
  name: "without-time-axes",
  /** @type {(code: string, id: string) => string | null} */
  transform: (code, id) => {
    if (!id.endsWith("uPlot.esm.js")) return null
    if (code.match(TIME_AXES)?.length !== 2)
      throw new Error("uPlot makes its axes of times elsewhere: look there")
    return code.replaceAll(TIME_AXES, "= [[], [], () => []]")
  },
}

/**
 * Bundles the page's program and style, with the scripts that it loads on demand and the pages that it links.
 *
 * @returns {Promise<{ script: string, style: string, scripts: Readonly<Record<string, string>>, pages: Readonly<Record<string, string>>, modules: ReadonlyArray<string> }>}
 */
export async function bundleConsole() {
  const bundle = await rolldown({
    input: join(folder, "main.tsx"),
    platform: "browser",
    plugins: [withoutTimeAxes],
    onwarn: () => {},
    optimization: { inlineConst: true },
    // Reads of properties do more: those of signals subscribe.
    treeshake: { unknownGlobalSideEffects: false },
    transform: { jsx: { runtime: "automatic", importSource: "preact" } },
  })
  const { output } = await bundle.generate({
    format: "esm",
    entryFileNames: "app.js",
    chunkFileNames: "[name].js",
    minify: true,
    // Those of libraries too: the bill of materials names them and their licences.
    comments: false,
  })
  const [main, ...others] = output
  const scripts = others.filter((file) => file.type === "chunk")
  const style = styleText()
  // The first script's version is that of the whole console: open pages compare it with the server's.
  const hash = createHash("sha256")
  for (const text of [style, ...scripts.map(({ code }) => code)]) hash.update(text)
  return {
    script: `${main.code}//${hash.digest("hex").slice(0, 16)}`,
    style,
    scripts: Object.fromEntries(scripts.map((chunk) => [chunk.fileName, chunk.code])),
    pages: pageTexts(),
    modules: [main, ...scripts].flatMap((chunk) => Object.keys(chunk.modules)),
  }
}
