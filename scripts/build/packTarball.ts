import { gzipSync } from "node:zlib"

/** A file of a tarball. */
export interface PackedFile {
  /** Its path, of at most 100 characters of ASCII. */
  readonly path: string
  readonly content: string
  readonly isExecutable?: boolean
}

const BLOCK = 512
/** The time of every file in the packages, the same as in tarballs of npm. */
export const MTIME_SECONDS = 499_162_500

const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, "0")}\0`

/** The header of a file, as the format ustar of POSIX lays it out. */
const headerOf = ({ path, isExecutable = false }: PackedFile, bytes: number): Buffer => {
  const header = Buffer.alloc(BLOCK)
  const write = (at: number, text: string) => header.write(text, at, "latin1")
  write(0, path)
  write(100, octal(isExecutable ? 0o755 : 0o644, 8))
  write(108, octal(0, 8))
  write(116, octal(0, 8))
  write(124, octal(bytes, 12))
  write(136, octal(MTIME_SECONDS, 12))
  // The checksum is computed with spaces in its own place.
  write(148, " ".repeat(8))
  write(156, "0")
  write(257, "ustar\u000000")
  const sum = header.reduce((total, byte) => total + byte, 0)
  write(148, `${octal(sum, 7)} `)
  return header
}

/** Packs files into a compressed tarball: the same bytes for the same files, without npm or tar. */
export const packTarball = (files: ReadonlyArray<PackedFile>): Buffer => {
  const blocks = files.flatMap((file) => {
    const content = Buffer.from(file.content)
    const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)
    return [headerOf(file, content.length), content, padding]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 })
}
