import { afterEach, assert, it, vi } from "vitest"
import { searchTexts } from "../../src/probes/searchTexts.ts"

afterEach(() => void vi.restoreAllMocks())

it("a search that only waited for a processor goes on, and one that used its time ends", () => {
  const used = vi.spyOn(process, "cpuUsage")
  for (const user of [0, 100_000, 500_000]) used.mockReturnValueOnce({ user, system: 0 })
  assert.isUndefined(searchTexts("^(a+)+$", [`${"a".repeat(40)}b`]))
  assert.lengthOf(used.mock.calls, 3)
  used.mockReturnValueOnce({ user: 0, system: 0 })
  assert.deepStrictEqual(searchTexts("^a", ["ab", "ba"]), [true, false])
})
