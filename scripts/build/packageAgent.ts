import { spawnSync } from "node:child_process"
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import process from "node:process"
import { embedAgent, type EmbeddedAgent, writeExecutable } from "./agentExecutable.ts"
import { hostGuide, PROGRAM } from "./agentPackage.ts"
import { licencesOf } from "./licences.ts"
import { fetchNode, type NodeBuild, nodeBuilds, runTool } from "./nodeBuilds.ts"
import { type PackageManifest, readManifest } from "./PackageManifest.ts"
import { MTIME_SECONDS } from "./packTarball.ts"
import { writeChecksums } from "./releaseFiles.ts"

const WORLD_READABLE = 0o644
/** The configuration may hold passwords: the package gives it the agent's group, which only exists on the host. */
const FOR_ROOT_AND_GROUP = 0o640
const EXECUTABLE = 0o755

interface Packaging {
  readonly root: string
  readonly target: string
  /** All that there are, by default. */
  readonly architectures?: ReadonlyArray<string>
  /** The Debian package alone, not compressed: a second in place of a minute, for tests. */
  readonly isQuick?: boolean
}

/**
 * Packages the agent as an executable that needs no Node.js, for each architecture: the file that a
 * server hands out to `install.sh`, with its licences, and, where `dpkg-deb` is installed, a package
 * for Debian. Resolves with the results, as lines for people.
 */
export const packageAgent = async (packaging: Packaging): Promise<ReadonlyArray<string>> => {
  const { root, target, architectures } = packaging
  mkdirSync(target, { recursive: true })
  const scratch = mkdtempSync(join(tmpdir(), `${PROGRAM}-`))
  try {
    const agent = await embedAgent(root, scratch)
    const made: Array<string> = []
    for (const build of nodeBuilds) {
      if (architectures?.includes(build.architecture) === false) continue
      const folder = mkdtempSync(join(scratch, "build-"))
      const node = await fetchNode(build, folder)
      const layout = join(folder, "layout")
      const blob = await agent.blobFor(build.version)
      layOut({ root, node, agent, blob, build, layout })
      if (packaging.isQuick !== true) made.push(placeExecutable({ packaging, build, layout }))
      made.push(packDebian({ packaging, build, layout }))
      rmSync(folder, { recursive: true })
    }
    writeChecksums(target)
    return made
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

interface Laying {
  readonly root: string
  /** The folder of a build of Node.js. */
  readonly node: string
  readonly agent: EmbeddedAgent
  readonly blob: string
  readonly build: NodeBuild
  readonly layout: string
}

/** Lays the files out as on a host. */
const layOut = ({ root, node, agent, blob, build, layout }: Laying): void => {
  const from = join(root, "deploy/agent")
  const placed = (at: string): string => {
    mkdirSync(join(layout, dirname(at)), { recursive: true, mode: EXECUTABLE })
    return join(layout, at)
  }
  const write = (at: string, text: string, mode = WORLD_READABLE): void => {
    writeFileSync(placed(at), text)
    chmodSync(join(layout, at), mode)
  }
  const place = (file: string, at: string, mode?: number): void => write(at, readFileSync(file, "utf8"), mode)
  writeExecutable(root, {
    node: join(node, "bin/node"),
    blob,
    target: placed(`usr/bin/${PROGRAM}`),
  })
  place(join(from, `${PROGRAM}.service`), `lib/systemd/system/${PROGRAM}.service`)
  place(join(from, "config.yaml"), `etc/${PROGRAM}/config.yaml`, FOR_ROOT_AND_GROUP)
  const documents = `usr/share/doc/${PROGRAM}`
  write(`${documents}/README.md`, hostGuide(root))
  const licences = [licencesOf(root, agent.modules), readFileSync(join(node, "LICENSE"), "utf8")]
  write(`${documents}/copyright`, licences.join(`\n${"-".repeat(80)}\n\nNode.js\n\n`))
  for (const script of ["postinst", "prerm", "postrm"])
    place(join(from, "debian", script), `DEBIAN/${script}`, EXECUTABLE)
  write("DEBIAN/control", controlOf(readManifest(root, "agent"), build))
  // dpkg asks before it replaces one of these that was changed.
  write("DEBIAN/conffiles", `/etc/${PROGRAM}/config.yaml\n`)
}

interface Packing {
  readonly packaging: Packaging
  readonly build: NodeBuild
  readonly layout: string
}

const placeExecutable = ({ packaging: { target }, build, layout }: Packing): string => {
  const executable = join(target, `${PROGRAM}-linux-${build.architecture}`)
  copyFileSync(join(layout, `usr/bin/${PROGRAM}`), executable)
  // The licences are the same for each architecture.
  copyFileSync(join(layout, `usr/share/doc/${PROGRAM}/copyright`), join(target, `${PROGRAM}-licenses.txt`))
  return `${PROGRAM} for Linux on ${build.architecture}: ${executable}`
}

const packDebian = ({ packaging, build, layout }: Packing): string => {
  if (spawnSync("dpkg-deb", ["--version"]).error !== undefined)
    return `${PROGRAM} for Debian: left out, because dpkg-deb is not installed`
  const { version } = readManifest(packaging.root, "agent")
  const deb = join(packaging.target, `${PROGRAM}_${version}_${build.debian}.deb`)
  const compressor = packaging.isQuick === true ? "-Znone" : "-Zxz"
  runTool("dpkg-deb", ["--root-owner-group", compressor, "--build", layout, deb], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(MTIME_SECONDS) },
  })
  return `${PROGRAM} for Debian on ${build.debian}: ${deb}`
}

const controlOf = (
  { version, description }: PackageManifest,
  { debian }: NodeBuild,
): string => `Package: ${PROGRAM}
Version: ${version}
Architecture: ${debian}
Maintainer: Tocsin contributors <tocsin@localhost>
Section: admin
Priority: optional
Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 9), passwd
Recommends: monitoring-plugins-basic
Description: ${description.replace(/\.$/, "")}
 It runs Nagios and Monitoring plugins unchanged, has built-in probes, and keeps results
 on disk through days of outage. It contains the Node.js that runs it.
`
