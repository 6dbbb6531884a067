import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"

const LINK = /!?\[([^\]]*)\]\(([^)\s#:]+)(?:#[^)\s]*)?\)/g

/** Leaves the text of links that lead out of a package: to sources and tests, which it does not have. */
const unlinkAbsent = (folder: string): void => {
  for (const page of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!page.endsWith(".md")) continue
    const path = join(folder, page)
    const isThere = (target: string) => existsSync(join(dirname(path), target))
    writeFileSync(
      path,
      readFileSync(path, "utf8").replaceAll(LINK, (link, text: string, target: string) =>
        isThere(target) ? link : text,
      ),
    )
  }
}

/** Copies the pages, which comments and messages name, and the examples, which pages name, into a package. */
export const copyPages = (root: string, folder: string): void => {
  const readme = readFileSync(join(root, "packages/tocsin/README.md"), "utf8")
  writeFileSync(join(folder, "README.md"), readme.replaceAll("](../../docs/", "](docs/"))
  const isRead = (path: string): boolean => path.endsWith(".md") || statSync(path).isDirectory()
  cpSync(join(root, "docs"), join(folder, "docs"), { recursive: true, filter: isRead })
  const manifest = join(root, "examples/package.json")
  cpSync(join(root, "examples"), join(folder, "examples"), {
    recursive: true,
    filter: (path) => path !== manifest && !["node_modules", "data"].includes(basename(path)),
  })
  unlinkAbsent(folder)
}
