import { assert, describe, it } from "@effect/vitest"
import { examineProxies } from "@tocsin/server/commands/doctor"

describe("the doctor", () => {
  it("says that a proxy stands before the server where the public address shows it", () => {
    const [finding, ...others] = examineProxies({ SERVICE_PUBLIC_URL: "https://tocsin.example.org" })
    assert.deepStrictEqual([finding?.check, finding?.level, others], ["proxies", "attention", []])
    assert.match(finding?.message ?? "", /set SERVICE_TRUST_PROXY to the number of proxies$/)
    const stored = { publicUrl: "https://tocsin.example.org" }
    assert.deepStrictEqual(examineProxies({ stored })[0], finding)
  })

  it("says nothing of a proxy that is trusted, or of none", () => {
    for (const settings of [
      {},
      { SERVICE_PUBLIC_URL: "http://10.0.0.7:8080" },
      { SERVICE_PUBLIC_URL: "https://tocsin.example.org", SERVICE_TRUST_PROXY: 1 },
    ])
      assert.deepStrictEqual(examineProxies(settings), [])
  })
})
