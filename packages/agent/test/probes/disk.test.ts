import { assert, describe, it } from "@effect/vitest"
import { diskMounts } from "../../src/probes/disk.ts"

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
})
