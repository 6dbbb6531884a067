import { assert, describe, it } from "@effect/vitest"
import { systemClock } from "../../src/clock/Clock.ts"
import { examining } from "../../src/probes/examining.ts"

const PATIENCE_MILLIS = 20

/** File systems of which some hang until `wake` is called. */
const makeHost = (hanging: ReadonlyArray<string>) => {
  const asked: Array<string> = []
  let wake = () => {}
  const woken = new Promise<void>((resolve) => (wake = resolve))
  const fileSystems = examining(async (path: string) => {
    asked.push(path)
    if (path === "/none") throw new Error("no such file")
    if (hanging.includes(path)) await woken
    return path
  }, PATIENCE_MILLIS)
  const look = async (path: string) =>
    await fileSystems(path, systemClock).catch((error: Error) => error.message)
  return { asked, look, wake }
}

describe("file systems", () => {
  it("are examined one after another where there are many, whatever becomes of each", async () => {
    const { asked, look } = makeHost([])
    const paths = ["/a", "/none", "/b", "/c", "/d"]
    assert.deepStrictEqual(await Promise.all(paths.map(look)), ["/a", "no such file", "/b", "/c", "/d"])
    assert.deepStrictEqual(asked, paths)
  })

  it("that hang are asked once, hold two threads at most, and are named to those that wait", async () => {
    const { asked, look, wake } = makeHost(["/x", "/y", "/z"])
    const silent = "the file system does not answer"
    assert.deepStrictEqual(await Promise.all(["/x", "/a"].map(look)), [silent, "/a"])
    const all = ["/x", "/y", "/z", "/a"]
    assert.deepStrictEqual(await Promise.all(all.map(look)), [
      silent,
      silent,
      "/x and /y hang",
      "/x and /y hang",
    ])
    assert.deepStrictEqual(asked, ["/x", "/a", "/y"])
    wake()
    assert.deepStrictEqual(await Promise.all(all.map(look)), all)
  })
})
