import fs from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { diskMounts } from "../../src/probes/disk.ts"
import { probed } from "./probed.ts"

const { readFile } = fs
afterEach(() => {
  fs.readFile = readFile
  syncBuiltinESMExports()
})

/** Makes these lines the list of mounts of the system. */
const mounting = (...lines: ReadonlyArray<string>): void => {
  const fake = async (path: string, encoding: BufferEncoding) =>
    path === "/proc/self/mounts" ? lines.join("\n") : await readFile(path, encoding)
  fs.readFile = Object.assign(fake, readFile)
  syncBuiltinESMExports()
}

/** A mount by its line in /proc/self/mounts. */
const mounted = (line: string) => {
  const [device = "", path = "", type = "", options = ""] = line.split(" ")
  return { device, path, type, options: options.split(",") }
}

describe("the disks of a host", () => {
  it.each([
    ["composefs", "composefs / composefs rw,relatime"],
    ["erofs", "/dev/vda / erofs rw"],
    ["squashfs", "/dev/loop0 / squashfs rw"],
    ["iso9660", "/dev/sr0 / iso9660 rw"],
    ["a read-only overlay", "overlay / overlay ro,relatime,lowerdir=/a"],
    ["a read-only ext4", "/dev/sda1 / ext4 ro,relatime"],
    ["a read-only overlay over another root", "rootfs / rootfs rw\noverlay / overlay ro"],
  ])("are not %s, which cannot fill up", async (_, root) => {
    const image = root.split("\n").map(mounted)
    assert.deepStrictEqual(await diskMounts(image), { paths: [], leftOut: ["/"] })
    const both = await diskMounts([...image, mounted("tank /var zfs rw"), mounted("tank/old /old zfs ro")])
    assert.deepStrictEqual(both, { paths: ["/var"], leftOut: ["/", "/old"] })
  })

  it("are examined where they can be written, if they are mounted twice", async () => {
    const twice = ["pool / btrfs ro", "pool /var btrfs rw,subvol=/var"].map(mounted)
    assert.deepStrictEqual(await diskMounts(twice), { paths: ["/var"], leftOut: [] })
  })

  it.each(["overlay / overlay rw", "/dev/sda1 / ext4 rw,errors=remount-ro", ""])(
    "are the root that can be written: %j",
    async (root) => {
      assert.deepStrictEqual(await diskMounts([mounted(root)].filter(({ path }) => path !== "")), {
        paths: ["/"],
        leftOut: [],
      })
    },
  )

  const leftOut = (count: number) =>
    Array.from({ length: count }, (_, at) => `tank/${at} /old/${at} zfs ro,relatime`)

  it.each([
    [0, ""],
    [1, "; read-only and left out: /old/0"],
    [3, "; read-only and left out: /old/0, /old/1, /old/2"],
    [5, "; read-only and left out: /old/0, /old/1, /old/2 and 2 more"],
  ])("say which %i were left out: %s", async (count, words) => {
    mounting("overlay / overlay rw", ...leftOut(count))
    const thresholds = { warning: "0:", critical: "0:", inodes: { warning: "0:", critical: "0:" } }
    const { output } = await probed("disk", thresholds)
    assert.match(output.split(" | ")[0] ?? "", /^DISK OK - \/ [^;]*% free \([\d.]+ GiB\)/)
    assert.strictEqual(/;.*/.exec(output.split(" | ")[0] ?? "")?.[0] ?? "", words)
    const named = await probed("disk", { ...thresholds, mounts: "/" })
    assert.notInclude(named.output, "left out")
  })

  it.each([
    [0, "/"],
    [4, "/, /old/0, /old/1 and 2 more"],
  ])("are unknown where each of them and %i more were left out", async (count, words) => {
    mounting("/dev/vda / erofs rw", ...leftOut(count))
    const { output } = await probed("disk", {})
    const why = `no file system can fill up; read-only and left out: ${words}`
    assert.strictEqual(output, `DISK UNKNOWN - ${why}; name in mounts what to examine`)
  })
})
