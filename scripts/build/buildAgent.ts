import { spawnSync } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import process from "node:process"
import { bundleProgram } from "../bundleProgram.mjs"
import { licencesOf } from "./bundleServer.ts"
import type { PackageManifest } from "./PackageManifest.ts"

const PROGRAM = "tocsin-agent"
const WORLD_READABLE = 0o644
/** The configuration may hold passwords: the package gives it the agent's group, which only exists on the host. */
const FOR_ROOT_AND_GROUP = 0o640
const EXECUTABLE = 0o755
/** The time of every file in the package for Debian, the same as in tarballs of npm. */
const FILE_SECONDS = "499162500"

/** The build's results, as lines for people. */
type Made = ReadonlyArray<string>

interface BuiltAgent {
  readonly made: Made
  /** The paths of the bundled modules. */
  readonly modules: ReadonlyArray<string>
}

/**
 * Builds the agent into `target`: `agent`, a package of one bundled program for npm, and, where
 * `dpkg-deb` is installed, a package for Debian in the same folder.
 */
export const buildAgent = async (root: string, target: string): Promise<BuiltAgent> => {
  const source = join(root, "packages/agent")
  // A file of the workspace with these fields, which test/packages examines.
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as PackageManifest
  const folder = join(target, "agent")
  mkdirSync(folder, { recursive: true })
  const program = join(folder, `${PROGRAM}.mjs`)
  const modules = await bundleProgram({ source: join(source, "src/main.ts"), target: program })
  chmodSync(program, EXECUTABLE)
  writeFileSync(join(folder, "LICENSES.txt"), licencesOf(root, modules))
  for (const [from, to] of [
    [join(source, "README.md"), "README.md"],
    [join(root, "LICENSE"), "LICENSE"],
    [join(root, "deploy/agent", `${PROGRAM}.service`), `${PROGRAM}.service`],
  ] as const)
    cpSync(from, join(folder, to))
  const { version, description, license, type } = manifest
  const published = {
    // `npx tocsin-agent` finds a package by the name of its program.
    name: PROGRAM,
    version,
    description,
    license,
    type,
    engines: { node: ">=24" },
    bin: { [PROGRAM]: `${PROGRAM}.mjs` },
    files: [`${PROGRAM}.mjs`, `${PROGRAM}.service`, "LICENSES.txt"],
    // All of it is in the bundle.
    dependencies: {},
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(published, undefined, 2)}\n`)
  return {
    made: [`${PROGRAM} ${version}: ${folder}`, ...debianPackage({ root, target, manifest })],
    modules,
  }
}

interface DebianSource {
  readonly root: string
  readonly target: string
  readonly manifest: PackageManifest
}

/** Lays the files out as on a host and packs them: the same content gives the same package. */
const debianPackage = ({ root, target, manifest }: DebianSource): Made => {
  const deb = join(target, "agent", `${PROGRAM}_${manifest.version}_all.deb`)
  const layout = join(target, "agent.debian")
  const from = join(root, "deploy/agent")
  const place = (file: string, at: string, mode = WORLD_READABLE): void => {
    mkdirSync(join(layout, dirname(at)), { recursive: true, mode: EXECUTABLE })
    cpSync(file, join(layout, at))
    chmodSync(join(layout, at), mode)
  }
  try {
    place(join(target, "agent", `${PROGRAM}.mjs`), `usr/lib/${PROGRAM}/${PROGRAM}.mjs`)
    place(join(from, PROGRAM), `usr/bin/${PROGRAM}`, EXECUTABLE)
    place(join(from, `${PROGRAM}.service`), `lib/systemd/system/${PROGRAM}.service`)
    place(join(from, "config.yaml"), `etc/${PROGRAM}/config.yaml`, FOR_ROOT_AND_GROUP)
    const guide = `usr/share/doc/${PROGRAM}/README.md`
    place(join(root, "docs/agent.md"), guide)
    writeFileSync(join(layout, guide), withoutPages(readFileSync(join(layout, guide), "utf8")))
    place(join(target, "agent/LICENSES.txt"), `usr/share/doc/${PROGRAM}/copyright`)
    for (const script of ["postinst", "prerm", "postrm"])
      place(join(from, "debian", script), `DEBIAN/${script}`, EXECUTABLE)
    writeFileSync(join(layout, "DEBIAN/control"), controlOf(manifest))
    // dpkg asks before it replaces one of these that was changed.
    writeFileSync(join(layout, "DEBIAN/conffiles"), `/etc/${PROGRAM}/config.yaml\n`)
    const packed = spawnSync("dpkg-deb", ["--root-owner-group", "-Zxz", "--build", layout, deb], {
      encoding: "utf8",
      env: { ...process.env, SOURCE_DATE_EPOCH: FILE_SECONDS },
    })
    if (packed.error !== undefined)
      return ["tocsin-agent for Debian: left out, because dpkg-deb is not installed"]
    if (packed.status !== 0) throw new Error(`dpkg-deb: ${packed.stderr}`)
    return [`${PROGRAM} ${manifest.version} for Debian: ${deb}`]
  } finally {
    rmSync(layout, { recursive: true, force: true })
  }
}

/** Names the pages that a page links to, where they do not lie beside it. */
const withoutPages = (page: string): string =>
  page.replaceAll(/\[([^\]]*)\]\((?!#)([^)]*)\)/g, "$1 (docs/$2)")

const controlOf = ({ version, description }: PackageManifest): string => `Package: ${PROGRAM}
Version: ${version}
Architecture: all
Maintainer: Tocsin contributors <tocsin@localhost>
Section: admin
Priority: optional
Depends: passwd
Recommends: nodejs (>= 24), monitoring-plugins-basic
Description: ${description.replace(/\.$/, "")}
 It runs Nagios and Monitoring plugins unchanged, has built-in probes, keeps results
 on disk through days of outage, and needs Node.js 24 or newer.
`
