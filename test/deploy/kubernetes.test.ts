import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import manifest from "../../package.json" with { type: "json" }
import { models } from "./kubernetesModels.ts"
import { filesOf, kustomizations, type Manifest, manifests, manifestsOf } from "./manifests.ts"
import { readImage } from "./readImage.ts"
import { at, entriesAt, listAt } from "./YamlFile.ts"

const image = readImage()
const TIME_TO_STOP_SECONDS = 10
const SETTINGS_OF_COMPILER = {
  compilerOptions: {
    target: "ES2023",
    module: "NodeNext",
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
  },
}

const modelOf = ({ kind, file }: Manifest) =>
  models[kind] ?? assert.fail(`${file}: add ${kind} to kubernetesModels.ts`)

/**
 * The compiler's objections to objects: names that their kinds do not know, and values of other
 * types.
 */
const typeErrorsIn = (those: ReadonlyArray<Manifest>): string => {
  mkdirSync("docs/dist", { recursive: true })
  const folder = mkdtempSync(resolve("docs/dist/manifests-"))
  try {
    const lines = those.map((one, number) => {
      const { module, type } = modelOf(one)
      const object = JSON.stringify(one.object, undefined, 2)
      return `import type { ${type} as T${number} } from "${module}"\nexport const object${number}: T${number} = ${object}\n`
    })
    writeFileSync(join(folder, "manifests.ts"), lines.join("\n"))
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(SETTINGS_OF_COMPILER))
    const compiler = resolve("node_modules/typescript/bin/tsc")
    const ran = Result.try({
      try: () => execFileSync(process.execPath, [compiler, "--pretty", "false", "-p", folder]).toString(),
      catch: (cause) => (cause as { readonly stdout: Buffer }).stdout.toString(),
    })
    return Result.merge(ran)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The pods that run Tocsin. */
const workloads = [...manifestsOf("Deployment"), ...manifestsOf("StatefulSet")].map(
  ({ file, object }) => [file, at(object, "spec", "template", "spec"), object] as const,
)

const isExample = (file: string) => file.endsWith(".example.yaml")

describe("manifests of Kubernetes", () => {
  it.each(manifests.map((one) => [one.file, one] as const))(
    "have values as the API's schema says: %s",
    (_, one) => {
      // The check finds the type of a YAML value.
      modelOf(one).check(one.object as never)
    },
  )

  it("use only fields that their kinds define", () => {
    assert.strictEqual(typeErrorsIn(manifests), "")
    const [deployment] = manifestsOf("Deployment")
    assert.isDefined(deployment)
    const object = JSON.parse(JSON.stringify(deployment?.object).replace("readinessProbe", "readinesProbe"))
    assert.match(typeErrorsIn([{ file: "", kind: "Deployment", object }]), /readinesProbe/)
  })

  it("are all applied by a kustomization, except the examples", () => {
    const applied = kustomizations.flatMap(filesOf)
    assert.deepStrictEqual(
      applied.filter((file) => !existsSync(file)),
      [],
    )
    const files = manifests.map(({ file }) => file).filter((file) => !isExample(file))
    assert.sameMembers(Array.from(new Set(applied)), Array.from(new Set(files)))
  })

  it("are all in the namespace, under one name", () => {
    for (const { content } of kustomizations) assert.strictEqual(at(content, "namespace"), "tocsin")
    for (const { file, object } of manifests.filter((one) => !isExample(one.file))) {
      assert.strictEqual(at(object, "metadata", "labels", "app.kubernetes.io/name"), "tocsin", file)
    }
    const selectors = [
      ...manifestsOf("Service").map(({ object }) => at(object, "spec", "selector")),
      ...manifestsOf("NetworkPolicy").map(({ object }) => at(object, "spec", "podSelector", "matchLabels")),
      ...manifestsOf("PodDisruptionBudget").map(({ object }) =>
        at(object, "spec", "selector", "matchLabels"),
      ),
      ...manifestsOf("ServiceMonitor").map(({ object }) => at(object, "spec", "selector", "matchLabels")),
      ...workloads.flatMap(([, , object]) => [
        at(object, "spec", "selector", "matchLabels"),
        at(object, "spec", "template", "metadata", "labels"),
      ]),
    ]
    for (const selector of selectors) assert.deepStrictEqual(selector, { "app.kubernetes.io/name": "tocsin" })
  })

  it("enforce the restricted standard for pods", () => {
    const [namespace] = manifestsOf("Namespace")
    assert.strictEqual(
      at(namespace?.object, "metadata", "labels", "pod-security.kubernetes.io/enforce"),
      "restricted",
    )
  })

  it("share no host network or host path", () => {
    const [policy] = manifestsOf("NetworkPolicy")
    assert.deepStrictEqual(listAt(policy?.object, "spec", "policyTypes"), ["Ingress", "Egress"])
    assert.lengthOf(listAt(policy?.object, "spec", "ingress"), 1)
  })
})

describe.each(workloads)("%s", (file, pod) => {
  const container = at(pod, "containers", 0)
  const kustomization = kustomizations.find((one) => filesOf(one).includes(file))

  it("runs the image of this version as the image's user", () => {
    assert.strictEqual(at(container, "image"), "tocsin")
    assert.deepStrictEqual(listAt(kustomization?.content, "images"), [
      { name: "tocsin", newName: "tocsin", newTag: manifest.version },
    ])
    const security = at(pod, "securityContext")
    assert.strictEqual(`${at(security, "runAsUser")}:${at(security, "runAsGroup")}`, image.user)
  })

  it("meets the restricted standard, with a read-only root", () => {
    assert.strictEqual(at(pod, "securityContext", "runAsNonRoot"), true)
    assert.strictEqual(at(pod, "securityContext", "seccompProfile", "type"), "RuntimeDefault")
    assert.strictEqual(at(pod, "automountServiceAccountToken"), false)
    assert.deepStrictEqual(at(container, "securityContext"), {
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    })
  })

  it("is probed at the contract's health and readiness paths, on the port of the image", () => {
    const probes = ["startupProbe", "livenessProbe", "readinessProbe"].map((name) => [
      at(container, name, "httpGet", "path"),
      at(container, name, "httpGet", "port"),
    ])
    assert.deepStrictEqual(probes, [
      ["/api/v1/health", "http"],
      ["/api/v1/health", "http"],
      ["/api/v1/ready", "http"],
    ])
    assert.deepStrictEqual(listAt(container, "ports"), [
      { name: "http", containerPort: Number(image.ports[0]) },
    ])
    for (const { object } of manifestsOf("Service"))
      assert.strictEqual(at(object, "spec", "ports", 0, "targetPort"), "http")
  })

  it("has time to stop: first for its clients to leave, then for the server", () => {
    const turnAway = Number(at(container, "lifecycle", "preStop", "sleep", "seconds"))
    assert.isAtLeast(turnAway, 1)
    assert.isAbove(Number(at(pod, "terminationGracePeriodSeconds")), turnAway + TIME_TO_STOP_SECONDS)
  })

  it("states its resources", () => {
    const resources = entriesAt(container, "resources").map(([name, values]) => [
      name,
      entriesAt(values).map(([of]) => of),
    ])
    assert.deepStrictEqual(resources, [
      ["requests", ["cpu", "memory"]],
      ["limits", ["memory"]],
    ])
  })

  it("reads its secrets from files of a Secret whose example has exactly these", () => {
    const [mount] = listAt(container, "volumeMounts").filter((one) => at(one, "name") === "secrets")
    const folder = String(at(mount, "mountPath"))
    const named = listAt(container, "env").map((variable) =>
      String(at(variable, "value")).replace(`${folder}/`, ""),
    )
    const example = manifestsOf("Secret").find((one) => one.file.startsWith(`${kustomization?.folder}/`))
    assert.sameMembers(
      named,
      entriesAt(example?.object, "stringData").map(([name]) => name),
    )
    const [volume] = listAt(pod, "volumes")
    assert.strictEqual(at(volume, "secret", "secretName"), at(example?.object, "metadata", "name"))
    assert.strictEqual(at(volume, "secret", "defaultMode"), 0o440)
    assert.strictEqual(at(pod, "securityContext", "fsGroup"), at(pod, "securityContext", "runAsGroup"))
  })

  it("takes its other settings from a file beside it", () => {
    const [generator] = listAt(kustomization?.content, "configMapGenerator")
    assert.strictEqual(at(container, "envFrom", 0, "configMapRef", "name"), at(generator, "name"))
    for (const name of listAt(generator, "envs"))
      assert.isTrue(existsSync(join(kustomization?.folder ?? "", String(name))))
  })
})

describe("the Deployment", () => {
  const [deployment] = manifestsOf("Deployment")
  const spec = at(deployment?.object, "spec")

  it("survives the loss of a node", () => {
    assert.isAtLeast(Number(at(spec, "replicas")), 2)
    assert.deepStrictEqual(at(spec, "strategy", "rollingUpdate"), { maxSurge: 1, maxUnavailable: 0 })
    const constraints = listAt(spec, "template", "spec", "topologySpreadConstraints")
    const keys = constraints.map((constraint) => at(constraint, "topologyKey"))
    assert.deepStrictEqual(keys, ["kubernetes.io/hostname", "topology.kubernetes.io/zone"])
    assert.lengthOf(manifestsOf("PodDisruptionBudget"), 1)
  })
})

describe("the StatefulSet", () => {
  const [set] = manifestsOf("StatefulSet")
  const spec = at(set?.object, "spec")

  it("is one pod with a data volume", () => {
    assert.strictEqual(at(spec, "replicas"), 1)
    const claim = at(spec, "volumeClaimTemplates", 0, "metadata", "name")
    const mounts = listAt(spec, "template", "spec", "containers", 0, "volumeMounts")
    const places = mounts.map((mount) => `${at(mount, "name")}:${at(mount, "mountPath")}`)
    assert.include(places, `${claim}:${image.environment["SERVICE_DATA_DIR"]}`)
  })
})
