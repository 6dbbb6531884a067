import { execFileSync } from "node:child_process"
import { chownSync, mkdirSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import process from "node:process"
import type { Image } from "./readImage.ts"

/** Where the Dockerfile's first stage puts the built packages, and the parts of the image. */
const BUILT = "/built"
const PARTS = "/image"

const PATH = `${dirname(process.execPath)}:${process.env["PATH"]}`

const run = (command: string, args: ReadonlyArray<string>): void => {
  execFileSync(command, args, { env: { PATH }, stdio: ["ignore", "ignore", "inherit"] })
}

const BUNDLE = `
  const { bundleServer } = await import(process.argv[1])
  await bundleServer(process.argv[2], process.argv[3])
`

/** Builds the one part of the packages that the image takes, as `npm run build` does. */
const buildProgram = (folder: string): void => {
  mkdirSync(folder, { recursive: true })
  const script = resolve("scripts/build/bundleServer.ts")
  run(process.execPath, ["--input-type=module", "--eval", BUNDLE, script, process.cwd(), folder])
}

/**
 * Makes the root of an image in `root` as a builder would: the last command before its last stage,
 * then that stage's copies. The other commands install dependencies, which are here, and build.
 * Owners are set where this process may do so.
 */
export const assembleImage = (image: Image, root: string, scratch: string): void => {
  const there = (path: string): string =>
    path.replaceAll(/(?<=^| )\/(built|image)(?=\/|$| )/g, `${scratch}/$1`)
  buildProgram(there(`${BUILT}/tocsin/bin`))
  run("sh", ["-c", there(image.buildCommands.at(-1) ?? "false")])
  for (const { source, target, owner } of image.copies) {
    if (!source.startsWith(PARTS)) throw new Error(`${source} is not made by the command before`)
    const place = join(root, target)
    mkdirSync(place, { recursive: true })
    run("cp", ["-a", "--link", `${there(source)}.`, place])
    if (owner === undefined || process.getuid?.() !== 0) continue
    const [uid = "", gid = ""] = owner.split(":")
    chownSync(place, Number(uid), Number(gid))
  }
}
