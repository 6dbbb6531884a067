import { constants } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import type { FieldProblem } from "@tocsin/contract/formats/describeIssue"
import { completeReceivers } from "@tocsin/contract/receivers/mailServer"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { Mail, Receiver } from "@tocsin/contract/receivers/Receiver"
import {
  neededSecrets,
  type SecretName,
  secretNames,
  storedNameOf,
} from "@tocsin/contract/receivers/ReceiverSecrets"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { OpenedSecrets } from "@tocsin/core/heart/policy/namedSecrets"
import { Redacted, Result } from "effect"
import { MAX_SECRET_BYTES, readBoundedFile } from "./readBoundedFile.ts"

export type ReceiverSecrets = { [Name in SecretName]?: Redacted.Redacted | undefined }

/** Where the secrets of a policy's receivers are, beside variables. */
export interface SecretPlaces {
  /** The folder of the only files that it may name; `undefined`: none. Any file unless given. */
  readonly folder?: { readonly path: string | undefined }
  /** Stored secrets; it may name none unless given. */
  readonly stored?: OpenedSecrets
}

/** A key of a receiver that says where a secret is. */
const SECRET_KEY = new RegExp(`^(?<name>${secretNames.join("|")})_(?<from>file|env)$`, "u")

const namedPlaces = (receiver: Mail | Receiver) =>
  Object.entries(receiver).flatMap(([key, place]) => {
    const { name, from } = SECRET_KEY.exec(key)?.groups ?? {}
    // The pattern admits these names only.
    return typeof place === "string" && name !== undefined
      ? [{ key, name: name as SecretName, isVariable: from === "env", place }]
      : []
  })

export const ofReceiver =
  (name: NotifierName) =>
  ({ message, path }: FieldProblem): FieldProblem => ({ message, path: ["receivers", name, ...path] })

/** The files and variables of a policy's receivers that cannot be read. */
export const secretProblems = (
  policy: Pick<PolicyDocument, "mail" | "receivers">,
): ReadonlyArray<FieldProblem> =>
  Object.entries(completeReceivers(policy)).flatMap(([name, receiver]) => {
    const read = readPlaces(receiver, undefined)
    return Result.isFailure(read) ? read.failure.map(ofReceiver(name)) : []
  })

/** The secrets that a stored policy must not name, so that applying one reveals nothing of other files. */
export const secretPlaceProblems = (
  { mail, receivers = {} }: Pick<PolicyDocument, "mail" | "receivers">,
  isFolderMissing: boolean,
): ReadonlyArray<FieldProblem> => {
  const entries = Object.entries(receivers).map(([name, one]) => [["receivers", name], one] as const)
  const all = mail === undefined ? entries : [[["mail"], mail] as const, ...entries]
  return all.flatMap(([at, one]) =>
    namedPlaces(one).flatMap(({ key, isVariable, place }) => {
      const path = [...at, key]
      if (isVariable) {
        const isOurs = place.startsWith("TOCSIN_SECRET_")
        return isOurs ? [] : [{ message: "must begin with TOCSIN_SECRET_ in a stored policy", path }]
      }
      if (!PLAIN_FILE_NAME.test(place)) {
        return [{ message: "must be the name of a file in SERVICE_SECRETS_DIR, without a folder", path }]
      }
      return isFolderMissing ? [{ message: NO_FOLDER, path }] : []
    }),
  )
}

const NO_FOLDER = "needs SERVICE_SECRETS_DIR, which is not set; name a variable, or set it"

/** The name of a file directly in a folder. */
const PLAIN_FILE_NAME = /^(?!\.{1,2}$)[^/\\\0]+$/u

type Read = Result.Result<ReceiverSecrets, ReadonlyArray<FieldProblem>>

/** Reads the secrets of a receiver, wherever they are. Problems repeat neither a path nor a secret. */
export const readSecrets = (receiver: Receiver, { folder, stored }: SecretPlaces): Read => {
  const name = storedNameOf(receiver)
  return name === undefined ? readPlaces(receiver, folder) : readStored(receiver, name, stored)
}

const readPlaces = (receiver: Receiver, folder: SecretPlaces["folder"]): Read => {
  const secrets: ReceiverSecrets = {}
  const problems: Array<FieldProblem> = []
  for (const { key, name, isVariable, place } of namedPlaces(receiver)) {
    const read = isVariable ? readVariable(place) : readFile(place, folder)
    if (Result.isSuccess(read)) secrets[name] = Redacted.make(read.success)
    else problems.push({ message: read.failure, path: [key] })
  }
  return problems.length === 0 ? Result.succeed(secrets) : Result.fail(problems)
}

const NOT_STORED =
  "names stored secrets, which only a stored policy may name: name files or variables, or apply the policy"

const readStored = (receiver: Receiver, name: NotifierName, stored: SecretPlaces["stored"]): Read => {
  const refuse = (message: string): Read => Result.fail([{ message, path: ["secrets"] }])
  const opened = stored?.get(name)
  if (opened === undefined) return refuse(NOT_STORED)
  if (Result.isFailure(opened)) return refuse(opened.failure)
  const secrets: ReceiverSecrets = {}
  for (const key of secretNames) {
    const text = opened.success[key]
    const trimmed = text === undefined ? "" : Redacted.value(text).trim()
    if (trimmed !== "") secrets[key] = Redacted.make(trimmed)
  }
  const missing = neededSecrets(receiver).filter((key) => secrets[key] === undefined)
  return missing.length === 0
    ? Result.succeed(secrets)
    : refuse(
        `names ${name}, which lacks ${missing.join(" and ")}: store all secrets of the receiver together`,
      )
}

/** Reads a secret that a policy names; fails with the sentence that follows the name. */
export const readNamedSecret = (
  place: { readonly env: string } | { readonly file: string },
  folder: string | undefined,
): Result.Result<string, string> =>
  "env" in place ? readVariable(place.env) : readFile(place.file, { path: folder })

const readVariable = (name: string): Result.Result<string, string> => {
  const value = process.env[name]?.trim()
  return value === undefined || value === ""
    ? Result.fail("names a variable that is not set")
    : Result.succeed(value)
}

const readFile = (place: string, folder: SecretPlaces["folder"]): Result.Result<string, string> => {
  if (folder !== undefined && folder.path === undefined) return Result.fail(NO_FOLDER)
  const path = folder?.path === undefined ? place : join(folder.path, place)
  const flags = folder === undefined ? 0 : constants.O_NOFOLLOW
  const read = Result.try(() => readBoundedFile(path, MAX_SECRET_BYTES, flags))
  if (Result.isFailure(read)) return Result.fail("names a file that cannot be read: check its path and owner")
  if (read.success === undefined) return Result.fail("names a file that is larger than 64 KiB")
  const text = read.success.trim()
  return text === "" ? Result.fail("names an empty file") : Result.succeed(text)
}
