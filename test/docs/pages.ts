/** Reads the pages that people read: their blocks of code, code in sentences, links and headings. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastGlob from 'fast-glob'
import type { Nodes, RootContent } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { PACKAGE } from '../support/process.ts'
import { type Directions, readDirections } from './directions.ts'

export interface Block {
  /** The line of the page where the block begins, from 1. */
  readonly line: number
  /** The language of the fence; empty if there is none. */
  readonly language: string
  readonly text: string
  /** What the comment above the block says about checking it. */
  readonly directions: Directions
}

export interface Found {
  readonly line: number
  readonly text: string
}

export interface Page {
  readonly name: string
  readonly blocks: readonly Block[]
  /** Code inside sentences and tables. */
  readonly inlineCode: readonly Found[]
  readonly links: readonly Found[]
  /** What a link may name after `#`. */
  readonly anchors: ReadonlySet<string>
}

export function pageNames(): string[] {
  return fastGlob.sync(['README.md', 'docs/*.md', 'plugin/**/*.md'], { cwd: PACKAGE }).sort()
}

export function readPage(name: string): Page {
  return parsePage(name, readFileSync(join(PACKAGE, name), 'utf8'))
}

export function parsePage(name: string, markdown: string): Page {
  const blocks: Block[] = []
  const inlineCode: Found[] = []
  const links: Found[] = []
  const headings: string[] = []
  const visit = (node: Nodes, before: RootContent | undefined): void => {
    const line = node.position?.start.line ?? 0
    if (node.type === 'code') {
      const comment = before?.type === 'html' ? before.value : ''
      blocks.push({ line, language: node.lang ?? '', text: node.value, directions: readDirections(comment) })
    }
    if (node.type === 'inlineCode') inlineCode.push({ line, text: node.value })
    if (node.type === 'link' || node.type === 'image' || node.type === 'definition')
      links.push({ line, text: node.url })
    if (node.type === 'html') {
      for (const found of node.value.matchAll(/\b(?:src|srcset|href)="([^"]+)"/g)) {
        links.push({ line, text: found[1] as string })
      }
    }
    if (node.type === 'heading') headings.push(textOf(node))
    if ('children' in node) for (const [index, child] of node.children.entries()) visit(child, node.children[index - 1])
  }
  visit(fromMarkdown(withoutFrontMatter(markdown)), undefined)
  return { name, blocks, inlineCode, links, anchors: anchorsOf(headings) }
}

/** The page with empty lines in place of front matter, so that line numbers stay. */
function withoutFrontMatter(markdown: string): string {
  return markdown.replace(/^---\n[\s\S]*?\n---\n/, (found) => found.replace(/[^\n]/g, ''))
}

function textOf(node: Nodes): string {
  if ('value' in node) return node.value
  return 'children' in node ? node.children.map(textOf).join('') : ''
}

/** The anchors that GitHub makes from headings. */
function anchorsOf(headings: readonly string[]): Set<string> {
  const anchors = new Set<string>()
  for (const heading of headings) {
    const plain = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    let anchor = plain
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${plain}-${count}`
    anchors.add(anchor)
  }
  return anchors
}
