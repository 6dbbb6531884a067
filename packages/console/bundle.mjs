import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { drawings } from "./drawings.mjs"
import { icons } from "./icons.mjs"

const folder = fileURLToPath(new URL("src", import.meta.url))

/** The style sheets in their order, by name, without comments and indentation. */
const styleText = () =>
  readdirSync(join(folder, "style"))
    .filter((name) => name.endsWith(".css"))
    .sort()
    .map((name) => readFileSync(join(folder, "style", name), "utf8"))
    .concat(drawings())
    .join("\n")
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .trim()

/** The pages of the documentation that the console links. */
const PAGES = ["agent.md", "notifications.md", "on-call.md", "policy.md"]

const pageTexts = () =>
  Object.fromEntries(PAGES.map((name) => [name, readFileSync(join(folder, "../../../docs", name), "utf8")]))

/** The page itself draws axes of times and writes dates: the library's take a tenth of it. */
const TIME_AXES = /= genTimeStuffs\([^)]+\)/g
const DATES = /(?:days|months)\.map\(slice3\)|names \|\| engNames|subs\[m\[1\]\]/g
/** Its lines are plain ones: bars, steps and curves, and joined tables, are for others. */
const SHAPES = /\(paths\.(?:stepped|bars|spline) +=.+|uPlot\.(?:join|fmtDate|tzDate) +=.+/g

/** The page's components are functions: the calls that only classes get are for others. */
const CLASSES =
  /C&&\(d\.__s\|\|.+?\)\)\)\),|M!==k&&C&&.+?\(M,L\),|,C&&d\.componentDidUpdate.+?\}\)(?=\})|else C&&.+?componentDidMount\);|C&&u\.__c&&d\.getSnapshot.+?\(k,b\)\),/g

/** Of the actions of the audit, the page shows the names. */
const AUDITED = /(?<=^ {2}"[a-z_.]+": )\[[^\]]+\]/gm

const withoutIdleParts = {
  name: "without-idle-parts",
  /** @type {(code: string, id: string) => string | null} */
  transform: (code, id) => {
    if (id.endsWith("AuditActions.ts")) return code.replaceAll(AUDITED, "[]")
    if (id.endsWith("preact.mjs")) {
      if (code.match(CLASSES)?.length !== 5)
        throw new Error("preact has its calls for classes elsewhere: look there")
      return code.replaceAll(CLASSES, "")
    }
    if (!id.endsWith("uPlot.esm.js")) return null
    if ([TIME_AXES, DATES, SHAPES].some((part, place) => code.match(part)?.length !== [2, 4, 6][place]))
      throw new Error("uPlot has its idle parts elsewhere: look there")
    return code.replaceAll(TIME_AXES, "= [[], [], () => []]").replaceAll(DATES, "[]").replaceAll(SHAPES, "")
  },
}

/** The worker, which is no part of the page: browsers load it by itself. */
const workerText = async () => {
  const bundle = await rolldown({
    input: join(folder, "worker/sw.ts"),
    platform: "browser",
    onwarn: () => {},
  })
  const { output } = await bundle.generate({ format: "iife", minify: true, comments: false })
  return output[0].code
}

/**
 * Bundles the page's program and style, with the scripts that it loads on demand and the pages that it links.
 *
 * @returns {Promise<{ script: string, style: string, scripts: Readonly<Record<string, string>>, pages: Readonly<Record<string, string>>, worker: string, icons: Readonly<Record<string, string>>, modules: ReadonlyArray<string> }>}
 */
export async function bundleConsole() {
  const bundle = await rolldown({
    input: join(folder, "main.tsx"),
    platform: "browser",
    plugins: [withoutIdleParts],
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
    worker: await workerText(),
    icons: icons(),
    modules: [main, ...scripts].flatMap((chunk) => Object.keys(chunk.modules)),
  }
}
