import { assert, describe, it } from "@effect/vitest"
import { mergedChanges } from "../../src/state/mergedChanges.ts"

const former = {
  every: "1m",
  confirm: { bad: 2, good: 1 },
  http: { url: "https://a.example/", text: "fine", days: { warning: 21 } },
}

describe("the changes of a form beside those of somebody else", () => {
  it("are those that it made, to their depth", () => {
    const stated = {
      every: "1m",
      confirm: { good: 1, bad: 3 },
      http: { ...former.http, text: undefined, method: "HEAD" },
    }
    const present = {
      every: "5m",
      confirm: { bad: 2, good: 2 },
      http: { url: "https://b.example/", text: "fine", days: { warning: 21, critical: 7 } },
    }
    const { changes, conflicts } = mergedChanges(former, stated, present)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(changes)), {
      confirm: { bad: 3, good: 2 },
      http: { url: "https://b.example/", days: { warning: 21, critical: 7 }, method: "HEAD" },
    })
    assert.deepStrictEqual(conflicts, [])
  })

  it("name what both changed to different values", () => {
    const stated = { every: "10s", http: { ...former.http, text: "well" } }
    const present = { ...former, every: "5m", http: { ...former.http, text: "well" } }
    assert.deepStrictEqual(mergedChanges(former, stated, present), {
      changes: stated,
      conflicts: [["every", "5m"]],
    })
  })

  it("are named by their places, of which several may have one name", () => {
    const probe = { days: { warning: 21 }, time: { warning: "1s" } }
    const stated = { http: { days: { warning: 14 }, time: { warning: "3s" } } }
    const present = { http: { days: { warning: 7 }, time: { warning: "2s" } } }
    assert.deepStrictEqual(mergedChanges({ http: probe }, stated, present).conflicts, [
      ["http.days.warning", 7],
      ["http.time.warning", "2s"],
    ])
  })

  it("send secrets to no other address than their writer saw", () => {
    const stated = { http: { ...former.http, auth: { bearer: "1" } } }
    const present = { ...former, http: { ...former.http, url: "https://b.example/" } }
    assert.deepStrictEqual(mergedChanges(former, stated, present), {
      changes: stated,
      conflicts: [["http.url", "https://b.example/"]],
    })
    assert.deepStrictEqual(mergedChanges(former, stated, former).conflicts, [])
  })

  it("are none where only the order of keys is another", () => {
    const { changes } = mergedChanges(former, { confirm: { good: 1, bad: 2 } }, former)
    assert.deepStrictEqual(changes, {})
  })
})
