/// <reference lib="es2024.string" />
import { invalid, type Refusal } from "./Report.ts"

/** An element of XML, with its text: that of its children is not in it. */
export interface XmlElement {
  readonly name: string
  readonly attributes: string
  readonly children: Array<XmlElement>
  text: string
}

const MOST_DEPTH = 8
const MOST_ELEMENTS = 60_000

/** A section, comment, instruction, end, beginning or text. A DTD is none of these. */
const TOKEN =
  /<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<\/([^\s<>/="'&!?]+)\s*>|<([^\s<>/="'&!?]+)((?:\s+[^\s<>/="'&]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/uy

const POINT = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/u
const ENTITIES = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
])

/** The character of a reference; U+FFFD where its number is none of a character. */
const characterOf = (name: string): string | undefined => {
  const [, hex, decimal] = POINT.exec(name) ?? []
  if (hex === undefined && decimal === undefined) return ENTITIES.get(name)
  const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point).toWellFormed() : "\ufffd"
}

/** A text without its references; `undefined` if one of them is none that XML has without a DTD. */
const plainOf = (text: string): string | undefined => {
  const [start = "", ...references] = text.split("&")
  let plain = start
  for (const reference of references) {
    const end = reference.indexOf(";")
    const character = end === -1 ? undefined : characterOf(reference.slice(0, end))
    if (character === undefined) return undefined
    plain += character + reference.slice(end + 1)
  }
  return plain
}

/** The value of an attribute; empty if the element has none of this name. */
export const attributeOf = ({ attributes }: XmlElement, name: string): string => {
  for (const [, given, quoted = ""] of attributes.matchAll(/(?<!\S)([^\s=]+)\s*=\s*("[^"]*"|'[^']*')/gu))
    if (given === name) return plainOf(quoted.slice(1, -1)) ?? ""
  return ""
}

/**
 * Reads XML without a DTD, of at most 8 levels and 60,000 elements, in one pass. Namespaces mean nothing. Returns the
 * element around all others, or why it cannot be read.
 */
export const readXml = (xml: string): XmlElement | Refusal => {
  const document: XmlElement = { name: "", attributes: "", children: [], text: "" }
  const open = [document]
  let elements = 0
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < xml.length) {
    const token = TOKEN.exec(xml)
    const parent = open.at(-1)
    if (token === null || parent === undefined) return invalid("the XML must be well-formed, without a DTD")
    const [, data, ending, name, attributes = "", isEmpty, text] = token
    if (name !== undefined) {
      const element = { name, attributes, children: [], text: "" }
      parent.children.push(element)
      elements += 1
      if (open.length > MOST_DEPTH) return invalid(`the XML must have at most ${MOST_DEPTH} levels`)
      if (elements > MOST_ELEMENTS) return invalid(`the XML must have at most ${MOST_ELEMENTS} elements`)
      if (isEmpty === "") open.push(element)
    } else if (ending !== undefined) {
      if (parent === document || open.pop()?.name !== ending)
        return invalid("the XML must end each element where it began")
    } else {
      const plain = data ?? plainOf(text ?? "")
      if (plain === undefined) return invalid("the XML must have no entities but amp, lt, gt, quot and apos")
      parent.text += plain
    }
  }
  const [root, ...others] = document.children
  const isWhole = open.length === 1 && others.length === 0 && document.text.trim() === ""
  return isWhole && root !== undefined ? root : invalid("the XML must be one element, with its end")
}
