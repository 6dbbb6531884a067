import { existsSync, readFileSync } from "node:fs"
import { Ajv } from "ajv"
import { assert, describe, it } from "@effect/vitest"
import { definitions } from "@tocsin/server/settings/Settings"
import manifest from "../../package.json" with { type: "json" }
import { at, type Data, documentsOf, entriesAt, listAt } from "./YamlFile.ts"

const files = ["compose.yaml", "compose.sqlite.yaml"]

// The schema of the Compose Specification, as it is published; its name for JSON Schema's draft 7
// is not the usual one.
const { $schema: _, ...schema }: { readonly $schema: string } = JSON.parse(
  readFileSync("test/deploy/compose-spec/compose-spec.json", "utf8"),
)
const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema)

const read = (file: string): Data => {
  const [document, ...rest] = documentsOf(file)
  assert.lengthOf(rest, 0)
  return document ?? assert.fail(`${file} is empty`)
}

describe.each(files)("%s", (file) => {
  const compose = read(file)
  const services = entriesAt(compose, "services")

  it("is valid by the Compose Specification", () => {
    assert.isTrue(validate(compose), JSON.stringify(validate.errors))
    assert.isFalse(validate({ services: { tocsin: { image: "tocsin", read_onyl: true } } }))
  })

  it.each(services)(
    "restricts %s: read-only, without capabilities or new privileges, with a bounded log",
    (_, service) => {
      assert.strictEqual(at(service, "read_only"), true)
      assert.deepStrictEqual(listAt(service, "cap_drop"), ["ALL"])
      assert.deepStrictEqual(listAt(service, "cap_add"), [])
      assert.deepStrictEqual(listAt(service, "security_opt"), ["no-new-privileges:true"])
      assert.strictEqual(at(service, "restart"), "unless-stopped")
      assert.isString(at(service, "logging", "options", "max-size"))
    },
  )

  it.each(services)("pins the image of %s to a version", (_, service) => {
    assert.match(String(at(service, "image")), /^[a-z]+:\d+\.\d+(\.\d+)?(-[a-z]+)?$/)
  })

  it.each(services)("gives %s its secrets as files, and contains none", (_, service) => {
    const declared = entriesAt(compose, "secrets").map(([name]) => name)
    const given = listAt(service, "secrets")
    assert.includeMembers(declared, [...given] as Array<string>)
    const named = entriesAt(service, "environment").filter(([name]) => name.endsWith("_FILE"))
    assert.sameMembers(
      named.map(([, path]) => path),
      given.map((name) => `/run/secrets/${name}`),
    )
    const secret = Object.entries(definitions).flatMap(([name, setting]) =>
      "isSecret" in setting ? [name] : [],
    )
    const literal = entriesAt(service, "environment").filter(
      ([name]) => secret.includes(name) || name.endsWith("PASSWORD"),
    )
    assert.deepStrictEqual(literal, [])
  })

  it("keeps its secrets in files outside every image and commit", () => {
    for (const [name, secret] of entriesAt(compose, "secrets")) {
      assert.strictEqual(at(secret, "file"), `secrets/${name}`)
    }
    assert.include(readFileSync(".gitignore", "utf8").split("\n"), "/secrets/")
    assert.include(readFileSync(".gitignore", "utf8").split("\n"), "/tocsin.env")
  })

  it("builds the image of this version, which listens only on this machine by default", () => {
    const tocsin = at(compose, "services", "tocsin")
    assert.strictEqual(at(tocsin, "image"), `tocsin:${manifest.version}`)
    assert.isTrue(existsSync(`${at(tocsin, "build")}/Dockerfile`))
    assert.deepStrictEqual(listAt(tocsin, "ports"), ["${TOCSIN_PUBLISH:-127.0.0.1:8080}:8080"])
    // The server ends within ten seconds.
    assert.isAbove(Number.parseInt(String(at(tocsin, "stop_grace_period")), 10), 10)
  })

  it("mounts exactly the volumes that it declares", () => {
    const mounted = services
      .flatMap(([, service]) => listAt(service, "volumes"))
      .map((volume) => String(volume).split(":")[0])
    assert.sameMembers(
      mounted,
      entriesAt(compose, "volumes").map(([name]) => name),
    )
  })
})

describe("compose.yaml", () => {
  it("starts Tocsin once PostgreSQL accepts connections, and exposes PostgreSQL to no other service", () => {
    const compose = read("compose.yaml")
    assert.strictEqual(
      at(compose, "services", "tocsin", "depends_on", "postgres", "condition"),
      "service_healthy",
    )
    const [, program] = listAt(compose, "services", "postgres", "healthcheck", "test")
    assert.strictEqual(program, "pg_isready")
    assert.deepStrictEqual(listAt(compose, "services", "postgres", "ports"), [])
    assert.deepStrictEqual(listAt(compose, "services", "postgres", "networks"), ["database"])
    assert.strictEqual(at(compose, "networks", "database", "internal"), true)
  })
})
