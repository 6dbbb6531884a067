import fs from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { systemClock } from "../../src/clock/Clock.ts"
import { diskMounts } from "../../src/probes/disk.ts"
import { allMounts } from "../../src/probes/mount.ts"
import { probed } from "./probed.ts"

const { readFile, realpath, stat, statfs } = fs
afterEach(() => {
  Object.assign(fs, { readFile, realpath, stat, statfs })
  syncBuiltinESMExports()
})

/** A line of `/proc/self/mountinfo`, of `DEVICE PATH TYPE OPTIONS`: equal devices have equal numbers. */
const lineOf = (line: string, own?: string): string => {
  const [device = "", path = "", type = "", options = ""] = line.split(" ")
  const number = [...device].reduce((sum, one) => sum + (one.codePointAt(0) ?? 0), 0)
  return `30 1 0:${number} / ${path} ${own ?? options} shared:1 - ${type} ${device} ${options}`
}

/** Makes these lines the list of mounts of this process; those of the host's first process are the real ones. */
const mounting = (lines: ReadonlyArray<string>, ofHost?: ReadonlyArray<string>): void => {
  const lists = new Map([
    ["/proc/self/mountinfo", lines],
    ["/proc/1/mountinfo", ofHost],
  ])
  const fake = async (path: string, encoding: BufferEncoding) =>
    lists.get(path)?.join("\n") ?? (await readFile(path, encoding))
  fs.readFile = Object.assign(fake, readFile)
  syncBuiltinESMExports()
}

const disksOf = async (...lines: ReadonlyArray<string>) => {
  mounting(lines.map((line) => lineOf(line)))
  return await diskMounts(await allMounts(), systemClock)
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
    const image = root.split("\n")
    assert.deepStrictEqual(await disksOf(...image), { paths: [], leftOut: ["/"] })
    const both = await disksOf(...image, "tank /vol zfs rw", "tank/old /old zfs ro")
    assert.deepStrictEqual(both, { paths: ["/vol"], leftOut: ["/", "/old"] })
  })

  it("are examined where they can be written, if they are mounted twice", async () => {
    const twice = ["pool / btrfs ro", "pool /vol btrfs rw,subvol=/vol"]
    assert.deepStrictEqual(await disksOf(...twice), { paths: ["/vol"], leftOut: [] })
  })

  it.each(["overlay / overlay rw", "/dev/sda1 / ext4 rw,errors=remount-ro", ""])(
    "are the root that can be written: %j",
    async (root) => {
      const found = await disksOf(...(root === "" ? [] : [root]))
      assert.deepStrictEqual(found, { paths: ["/"], leftOut: [] })
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
    mounting(["overlay / overlay rw", ...leftOut(count)].map((line) => lineOf(line)))
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
    mounting(["/dev/vda / erofs rw", ...leftOut(count)].map((line) => lineOf(line)))
    const { output } = await probed("disk", {})
    const why = `no file system can fill up; read-only and left out: ${words}`
    assert.strictEqual(output, `DISK UNKNOWN - ${why}; name in mounts what to examine`)
  })

  const root = (own: string) => `30 1 254:0 / / ${own} - ext4 /dev/vda rw`
  it.each<[string, string, string | undefined, ReadonlyArray<string>, object]>([
    [
      // systemd 252 of Debian 12, ProtectSystem=strict and PrivateTmp: seven mounts of the root's device.
      "the view of a sandbox",
      "ro,relatime - ext4 /dev/sdb1 rw",
      "rw,relatime - ext4 /dev/sdb1 rw",
      [root("ro,relatime"), "31 30 254:0 /tmp/systemd-private-1/tmp /tmp rw,relatime - ext4 /dev/vda rw"],
      { paths: ["/", "/no/srv"], leftOut: [] },
    ],
    ["a view where the host's list is hidden", "ro - ext4 /dev/sdb1 rw", undefined, [], { leftOut: [] }],
    [
      "a mount that the host has read-only",
      "ro - ext4 /dev/sdb1 rw",
      "ro - ext4 /dev/sdb1 rw",
      [],
      { leftOut: ["/no/srv"] },
    ],
    // Linux 6.18 of 2026, after an error with errors=remount-ro.
    [
      "ext4 after an error",
      "rw - ext4 /dev/sdb1 rw,errors=remount-ro,emergency_ro",
      undefined,
      [],
      { leftOut: [] },
    ],
    // Linux 6.1 of Debian 12, after the same.
    [
      "ext4 after an error, before Linux 6.15",
      "rw - ext4 /dev/sdb1 ro,errors=remount-ro",
      "rw - ext4 /dev/sdb1 ro,errors=remount-ro",
      [],
      { leftOut: [] },
    ],
    ["the same in a sandbox", "ro - ext4 /dev/sdb1 ro", "rw - ext4 /dev/sdb1 ro", [], { leftOut: [] }],
    [
      "ext4 that was mounted read-only",
      "ro - ext4 /dev/sdb1 ro",
      "ro - ext4 /dev/sdb1 ro",
      [],
      { leftOut: ["/no/srv"] },
    ],
  ])("are judged by their file systems: %s", async (_, own, ofHost, more, expected) => {
    const [at, host] = [own, ofHost].map((one) => one && `40 30 8:17 / /no/srv ${one}`)
    mounting(
      [...(more.length > 0 ? more : [root("rw")]), at ?? ""],
      host === undefined ? [] : [root("rw"), host],
    )
    assert.deepInclude(await diskMounts(await allMounts(), systemClock), expected)
  })

  it.each([
    // XFS after its shutdown on Linux 6.18, and a mount of bindfs 1.14 whose process was killed: statfs of XFS succeeds.
    ["EIO", "critical", "/no/dead cannot be examined: EIO: refused, stat"],
    ["ENOTCONN", "critical", "/no/dead cannot be examined: ENOTCONN: refused, stat"],
    ["EACCES", "ok", "/no/dead mounted; /no/dead by the list of mounts alone, as this user may not enter it"],
  ])("are asked, not only the list: stat answers %s", async (code, status, words) => {
    mounting([root("rw"), "40 30 8:17 / /no/dead rw - xfs /dev/sdb1 rw"])
    const refusing = () => Promise.reject(Object.assign(new Error(`${code}: refused, stat`), { code }))
    Object.assign(fs, { stat: refusing })
    syncBuiltinESMExports()
    const found = await probed("mount", { mounts: "/no/dead" })
    const count = status === "ok" ? 0 : 1
    assert.strictEqual(found.output, `MOUNT ${status.toUpperCase()} - ${words} | mounts=${count};;0`)
    const disk = await probed("disk", { mounts: "/no/dead" })
    assert.strictEqual(disk.output, `DISK CRITICAL - /no/dead cannot be examined: ${code}: refused, stat`)
  })

  const ext4 = (device: string, path: string) => `68 66 ${device} / ${path} rw,relatime - ext4 /dev/loop0 rw`
  // Debian's autofs 5.1.8 on Linux 6.18, November 2026: a direct map, and one below a folder of it.
  const DIRECT =
    "66 30 0:42 / /no/data rw,relatime - autofs /etc/auto.d rw,fd=5,timeout=300,minproto=5,direct"
  const BELOW = "67 30 0:43 / /no rw,relatime - autofs /etc/auto.i rw,fd=11,timeout=300,minproto=5,indirect"

  it.each([
    ["direct", DIRECT],
    ["indirect", BELOW],
  ])("are mounted by the look at them, where an automount rests: %s", async (_, trigger) => {
    for (const probe of ["disk", "mount"] as const) {
      mounting([root("rw"), trigger])
      const looking = async (path: string) => {
        mounting([root("rw"), trigger, ext4("7:0", "/no/data")])
        return { ...(await stat("/")), dev: path === "/no/data" ? 7 * 256 : 0 }
      }
      Object.assign(fs, { stat: looking, realpath: async (path: string) => path, statfs: () => statfs("/") })
      syncBuiltinESMExports()
      const any = { warning: "0:", critical: "0:" }
      const limits = probe === "disk" ? { ...any, inodes: any } : {}
      const { output } = await probed(probe, { mounts: "/no/data", ...limits })
      assert.match(output, probe === "disk" ? /^DISK OK - \/no\/data [\d.]+% free/ : /^MOUNT OK/)
    }
  })

  it("are not mounted where an automount stays at rest, as for the processes of its daemon", async () => {
    mounting([root("rw"), DIRECT])
    const resting = async () => ({ ...(await stat("/")), dev: 42 })
    Object.assign(fs, { stat: resting, realpath: async (path: string) => path })
    syncBuiltinESMExports()
    const mount = await probed("mount", { mounts: "/no/data" })
    assert.strictEqual(mount.output, "MOUNT CRITICAL - /no/data is not mounted | mounts=1;;0")
    const disk = await probed("disk", { mounts: "/no/data" })
    assert.strictEqual(disk.output, "DISK CRITICAL - /no/data cannot be examined: nothing is mounted there")
  })

  it.each([
    ["emergency_ro", "rw", "became read-only after an error"],
    ["shutdown", "rw", "was shut down"],
    ["errors=remount-ro", "ro", "became read-only after an error"],
  ])("are critical with the option %s, also where they need not be written", async (option, mode, words) => {
    const line = `${root("rw").replace(/ rw$/, ` ${mode},${option}`)}`
    mounting([line], [line])
    const disk = await probed("disk", { inodes: { critical: "0:" }, warning: "0:", critical: "0:" })
    assert.match(disk.output, new RegExp(`^DISK CRITICAL - / ${words} \\| '/ free'=`))
    const mount = await probed("mount", { mounts: "/" })
    assert.strictEqual(mount.output, `MOUNT CRITICAL - / ${words} | mounts=1;;0`)
  })
})
