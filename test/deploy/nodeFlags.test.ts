import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { readImage } from "./readImage.ts"
import { readUnit } from "./UnitFile.ts"

describe("Node.js runs with the flags that npm start gives it", () => {
  const flags = (JSON.parse(readFileSync("scripts/nodeFlags.json", "utf8")) as ReadonlyArray<string>).join(
    " ",
  )

  it("in the image", () => {
    assert.strictEqual(readImage("Dockerfile").environment["NODE_OPTIONS"], flags)
  })

  it("in the systemd unit", () => {
    const service = readUnit("deploy/systemd/tocsin.service")["Service"] ?? {}
    assert.deepStrictEqual(service["ExecStart"], [`node ${flags} /opt/tocsin/tocsin.mjs`])
  })
})
