import { readFileSync } from "node:fs"
import {
  type Dockerfile,
  DockerfileParser,
  type From,
  type Instruction,
  JSONInstruction,
  ModifiableInstruction,
  PropertyInstruction,
} from "dockerfile-ast"

/** A `COPY` of the last stage. */
export interface ImageCopy {
  readonly source: string
  readonly target: string
  /** `UID:GID`; the image's user by default. */
  readonly owner: string | undefined
}

/** The content of the image that a Dockerfile's last stage makes. */
export interface Image {
  readonly bases: ReadonlyArray<{
    readonly image: string
    readonly registry: string | null
    readonly tag: string | null
  }>
  /** The commands of the stages before the last one, in order. */
  readonly buildCommands: ReadonlyArray<string>
  readonly copies: ReadonlyArray<ImageCopy>
  readonly environment: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  readonly user: string
  readonly volumes: ReadonlyArray<string>
  readonly ports: ReadonlyArray<string>
  readonly stopSignal: string
  /** Empty where it is not in exec form. */
  readonly entrypoint: ReadonlyArray<string>
  /** Empty where it is not in exec form. */
  readonly healthCheck: ReadonlyArray<string>
}

const propertiesOf = (instructions: ReadonlyArray<Instruction>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    instructions
      .filter((instruction) => instruction instanceof PropertyInstruction)
      .flatMap((instruction) => instruction.getProperties())
      .map((property) => [property.getName(), property.getValue() ?? ""]),
  )

const wordsOf = (instruction: Instruction): ReadonlyArray<string> =>
  instruction instanceof JSONInstruction
    ? instruction.getJSONStrings().map((word) => word.getJSONValue())
    : []

const copyOf = (instruction: Instruction): ImageCopy => {
  const [source = "", target = ""] = instruction.getArguments().map((word) => word.getValue())
  const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : []
  const owner = flags.find((flag) => flag.getName() === "chown")?.getValue()
  return { source, target, owner: owner ?? undefined }
}

const execForm = (text: string): ReadonlyArray<string> => {
  const list = /\[.*\]$/s.exec(text)?.[0]
  return list === undefined ? [] : JSON.parse(list)
}

/** Reads a Dockerfile. */
export const readImage = (path = "Dockerfile"): Image => {
  const file: Dockerfile = DockerfileParser.parse(readFileSync(path, "utf8"))
  const all = file.getInstructions()
  const last = all.findLastIndex((instruction) => instruction.getKeyword() === "FROM")
  const stage = all.slice(last)
  const those = (keyword: string) => stage.filter((instruction) => instruction.getKeyword() === keyword)
  const text = (keyword: string) => those(keyword).at(-1)?.getArgumentsContent() ?? ""
  return {
    bases: file.getFROMs().map((from: From) => ({
      image: from.getImage() ?? "",
      registry: from.getRegistry(),
      tag: from.getImageTag(),
    })),
    buildCommands: all
      .slice(0, last)
      .filter((instruction) => instruction.getKeyword() === "RUN")
      .map((instruction) => instruction.getArgumentsContent() ?? ""),
    copies: those("COPY").map(copyOf),
    environment: propertiesOf(those("ENV")),
    labels: propertiesOf(those("LABEL")),
    user: text("USER"),
    volumes: those("VOLUME").flatMap(wordsOf),
    ports: those("EXPOSE").flatMap((instruction) =>
      instruction.getArguments().map((port) => port.getValue()),
    ),
    stopSignal: text("STOPSIGNAL"),
    entrypoint: those("ENTRYPOINT").flatMap(wordsOf),
    healthCheck: execForm(text("HEALTHCHECK")),
  }
}
