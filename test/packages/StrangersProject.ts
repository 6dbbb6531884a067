import { execFile } from "node:child_process"
import {
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const installed = join(root, "node_modules")

/**
 * The tools of a project like this one besides Tocsin; the examples' own come from their
 * package.json.
 */
const TOOLS = [
  "@effect/vitest",
  "@hono/node-server",
  "@types/express",
  "@types/node",
  "fast-check",
  "typescript",
  "typescript-5.7",
  "vitest",
]

/** The command and its output. */
export interface Ran {
  readonly code: number
  readonly output: string
}

/** Variables of a program's environment. */
type Environment = Readonly<Record<string, string | undefined>>

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  /** Those of the examples: `npm start` needs none of them. */
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** A package that is installed alone. */
interface Installed {
  readonly folder: string
  /** The size of all files that npm installed. */
  readonly bytes: number
  readonly run: (command: string, args: ReadonlyArray<string>, env?: Environment) => Promise<Ran>
}

const run = (cwd: string, command: string, args: ReadonlyArray<string>, env: Environment = process.env) =>
  new Promise<Ran>((resolve) => {
    const options = { cwd, env, maxBuffer: 64 * 1024 * 1024 }
    execFile(command, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1
      resolve({ code, output: `${stdout}${stderr}` })
    })
  })

const succeed = async (...call: Parameters<typeof run>): Promise<void> => {
  const { code, output } = await run(...call)
  if (code !== 0) throw new Error(`${call[1]} ${call[2].join(" ")} ended with ${code}:\n${output}`)
}

const readManifest = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8"))

const isOurs = (name: string): boolean => name === "tocsin" || name === "tocsin-agent"

/** npm without a registry or a cache: only files on this machine. */
const npmCommand = (
  args: ReadonlyArray<string>,
  folder: string,
): readonly [command: string, args: ReadonlyArray<string>] => {
  const own = ["--offline", "--cache", join(folder, "npm-cache"), "--no-audit", "--no-fund", "--silent"]
  const script = process.env["npm_execpath"]
  return script === undefined ? ["npm", [...own, ...args]] : [process.execPath, [script, ...own, ...args]]
}

const npm = (folder: string, args: ReadonlyArray<string>): Promise<void> =>
  succeed(folder, ...npmCommand(args, folder))

/** Everybody else's packages, linked from where they are installed already: name to place. */
const linksTo = (manifests: ReadonlyArray<Manifest>): Readonly<Record<string, string>> => {
  const needed = manifests.flatMap(({ dependencies = {}, devDependencies = {}, peerDependencies = {} }) => [
    ...Object.keys(dependencies),
    ...Object.keys(devDependencies),
    ...Object.keys(peerDependencies),
  ])
  const others = new Set([...needed, ...TOOLS].filter((name) => !isOurs(name)))
  return Object.fromEntries(Array.from(others, (name) => [name, `file:${join(installed, name)}`]))
}

/**
 * A project outside the repository that uses Tocsin's packages: installed from the tarballs of `npm
 * run build`, with the examples and the tests of the library.
 */
export class StrangersProject {
  /** The folder of the project. */
  readonly path: string
  /** The tarball of each published package, by its name. */
  readonly tarballs: ReadonlyMap<string, string>
  /** Where `npm run build` wrote. */
  readonly built: string
  readonly #scratch: string

  private constructor(scratch: string, built: string, tarballs: ReadonlyMap<string, string>) {
    this.#scratch = scratch
    this.built = built
    this.path = join(scratch, "project")
    this.tarballs = tarballs
  }

  /** Builds and installs. */
  static async make(): Promise<StrangersProject> {
    const scratch = realpathSync(mkdtempSync(join(tmpdir(), "tocsin-packages-")))
    try {
      return await StrangersProject.#makeIn(scratch)
    } catch (error) {
      rmSync(scratch, { recursive: true })
      throw error
    }
  }

  static async #makeIn(scratch: string): Promise<StrangersProject> {
    const built = join(scratch, "built")
    await succeed(root, process.execPath, [join(root, "scripts/build/main.ts"), built])
    const manifests = globSync(join(built, "*/package.json")).map(readManifest)
    const tarballOf = ({ name, version }: Manifest) => join(built, `${name}-${version}.tgz`)
    const tarballs = new Map(manifests.map((manifest) => [manifest.name, tarballOf(manifest)]))
    const project = new StrangersProject(scratch, built, tarballs)
    project.#write([...manifests, readManifest(join(root, "examples/package.json"))])
    await npm(project.path, ["install", "--ignore-scripts"])
    return project
  }

  /**
   * Runs a program in the project's folder, where npm would find it: one of the project's packages,
   * or of the system.
   */
  run(command: string, args: ReadonlyArray<string>, env: Environment = {}): Promise<Ran> {
    return run(this.path, command, args, { ...this.environment, ...env })
  }

  /** Runs a program of one package alone as npx does, in an empty folder. */
  async runAlone(name: string, args: ReadonlyArray<string>): Promise<Ran> {
    const folder = mkdtempSync(join(this.#scratch, "empty-"))
    const given = ["exec", "--yes", `--package=${this.tarballs.get(name)}`, "--", name, ...args]
    return run(folder, ...npmCommand(given, folder), this.environment)
  }

  /** Packs a package in a folder of the project, as its author does. Returns the tarball. */
  async pack(folder: string): Promise<string> {
    const path = join(this.path, folder)
    const [command, args] = npmCommand(["pack", "--pack-destination", this.#scratch], this.#scratch)
    await succeed(path, command, args, this.environment)
    const { name, version } = readManifest(join(path, "package.json"))
    return join(this.#scratch, `${name}-${version}.tgz`)
  }

  /**
   * Installs one package in an empty folder, which then has these files of the project and packages that depend on it,
   * too. Runs a program there as {@link run}.
   */
  async install(
    name: string,
    files: ReadonlyArray<string> = [],
    others: ReadonlyArray<string> = [],
  ): Promise<Installed> {
    const folder = mkdtempSync(join(this.#scratch, "alone-"))
    for (const file of files) cpSync(join(this.path, file), join(folder, file))
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }')
    await npm(folder, ["install", "--no-save", `${this.tarballs.get(name)}`, ...others])
    const paths = globSync(join(folder, "node_modules/**/*"), { withFileTypes: true })
    const sizes = paths.map((path) => (path.isFile() ? statSync(join(path.parentPath, path.name)).size : 0))
    return {
      folder,
      bytes: sizes.reduce((sum, size) => sum + size, 0),
      run: (command, args, env = {}) => run(folder, command, args, { ...this.environment, ...env }),
    }
  }

  /** The environment of this process, with the project's programs first. */
  get environment(): NodeJS.ProcessEnv {
    const folders = [join(this.path, "node_modules/.bin"), dirname(process.execPath), process.env["PATH"]]
    return { ...process.env, PATH: folders.join(delimiter) }
  }

  /** Removes all of it. */
  remove(): void {
    rmSync(this.#scratch, { recursive: true, force: true })
  }

  #write(manifests: ReadonlyArray<Manifest>): void {
    const isWanted = (path: string): boolean => !path.includes("node_modules")
    cpSync(join(root, "test/packages/stranger"), this.path, { recursive: true })
    for (const folder of ["examples", "test/library"]) {
      cpSync(join(root, folder), join(this.path, folder), { recursive: true, filter: isWanted })
    }
    const packed = Object.fromEntries(Array.from(this.tarballs, ([name, path]) => [name, `file:${path}`]))
    const dependencies = { ...linksTo(manifests), ...packed, "@tocsin/examples": "file:./examples" }
    const manifest = { name: "stranger", version: "1.0.0", private: true, type: "module", dependencies }
    writeFileSync(join(this.path, "package.json"), JSON.stringify(manifest, undefined, 2))
  }
}
