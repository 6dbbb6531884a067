import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { Role } from "@tocsin/contract/operators/Operators"
import { assert, describe, it } from "@effect/vitest"
import { OUTBOX_ITEM } from "@tocsin/adapter-http/documents/examples"
import { resultOfStatus } from "@tocsin/adapter-notify/http/receipts"
import { type OpenApi, operationsOf, resolved, type Response } from "./OpenApi.ts"

const LINT = "node_modules/@redocly/cli/bin/cli.js"
const RULES = "test/openapi/redocly.yaml"
/** The committed files, which a test of adapter-http compares with what is served. */
const FILES = ["packages/adapter-http/openapi.json", "packages/adapter-http/openapi.ops.json"]

/** For people who have no token yet. */
const OPEN = new Set(["getSignInOptions", "signIn"])

/** Lints documents by Redocly's rules and ours. */
const lint = (...files: ReadonlyArray<string>) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [LINT, "lint", ...files, "--config", RULES, "--format", "stylish"],
    {
      encoding: "utf8",
      env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    },
  )
  return { status, output: `${stdout}${stderr}` }
}

describe("the OpenAPI documents", () => {
  it("are valid, complete and have examples that fit, by redocly lint", () => {
    const { status, output } = lint(...FILES)
    assert.strictEqual(status, 0, output)
  })

  it("would not pass with an undescribed operation, a bad example or a response without headers", () => {
    const folder = mkdtempSync(join(tmpdir(), "tocsin-lint-"))
    const file = join(folder, "openapi.json")
    const document = JSON.parse(readFileSync(FILES[0] ?? "", "utf8"))
    delete document.paths["/api/v1/agents"].get.description
    document.paths["/api/v1/agents/{agent_id}"].get.parameters[0].example = "no id!"
    delete document.components.responses.NotFound.headers
    writeFileSync(file, JSON.stringify(document))
    const { status, output } = lint(file)
    rmSync(folder, { recursive: true })
    assert.strictEqual(status, 1)
    for (const rule of ["operation-description", "no-invalid-parameter-examples", "rule/response-headers"])
      assert.include(output, rule)
  })
})

describe.each(FILES)("%s", (file) => {
  const document: OpenApi = JSON.parse(readFileSync(file, "utf8"))
  const rows = operationsOf(document).map((placed) => [`${placed.method} ${placed.path}`, placed] as const)

  it("has one server, a version and a license", () => {
    const { version, license } = document.info
    assert.strictEqual(version, "1.0.0")
    assert.deepStrictEqual(license, { name: "MIT", identifier: "MIT" })
    assert.lengthOf(document.servers, 1)
  })

  it.each(rows)("declares the token and the errors of %s", (_, { method, operation }) => {
    const schemes = operation.security.flatMap((requirement) => Object.keys(requirement))
    const isOpen = operation.tags.includes("Health") || OPEN.has(operation.operationId)
    assert.lengthOf(schemes, isOpen ? 0 : 1)
    for (const scheme of schemes) {
      assert.deepInclude(document.components.securitySchemes[scheme], { type: "http", scheme: "bearer" })
    }
    const roles = operation.security.flatMap(({ uiToken }) => uiToken ?? [])
    assert.lengthOf(roles, schemes.includes("uiToken") ? 1 : 0)
    for (const role of roles) {
      assert.include(Role.literals, role)
      assert.include(operation.description, `Requires the role \`${role}\`.`)
      assert.strictEqual("403" in operation.responses, role !== "read")
    }
    if (!isOpen) assert.includeMembers(Object.keys(operation.responses), ["401", "500"])
    if (!isOpen && method !== "GET" && !roles.includes("read")) assert.property(operation.responses, "403")
    const tooMany = operation.responses["429"]
    if (tooMany !== undefined) assert.property(resolved<Response>(document, tooMany).headers, "Retry-After")
  })

  it.each(rows)("has an example of every body of %s", (_, { operation }) => {
    const bodies = [
      operation.requestBody,
      ...Object.values(operation.responses).map((response) => resolved<Response>(document, response)),
    ]
    for (const media of bodies.flatMap((body) => Object.values(body?.content ?? {})))
      assert.isNotEmpty(media.examples)
  })

  it("describes its schemas", () => {
    for (const [name, { description }] of Object.entries(document.components.schemas))
      assert.isAbove(description?.length ?? 0, 10, name)
  })
})

it("the example of an outbox item has an error that a receiver's answer causes", () => {
  assert.deepStrictEqual(resultOfStatus(503, undefined), {
    outcome: "deferred",
    error: OUTBOX_ITEM.last_error,
  })
})
