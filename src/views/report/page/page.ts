import { oneLine } from '../../../kernel/text.ts'
import type { Report } from '../report.ts'
import { REPORT_TEXT as TEXT } from '../report-messages.ts'
import { type Html, html, Html as Raw } from './html.ts'
import { overview } from './overview.ts'
import { clock } from './scale.ts'
import { STYLE } from './style.ts'
import { taskCard } from './task-card.ts'

/** The report as one page of HTML: no script, no network, one style for light and dark. Pure. */

/** Up to this many tasks are shown open; with more tasks, only the first one is. */
const OPEN_TASKS = 6

/** The page of a report. */
export function reportPage(report: Report): string {
  const { root, nowMs, tasks, others, leftOut } = report
  const name = oneLine(root.split(/[\\/]/).findLast((part) => part !== '') ?? root, 120)
  // The policy forbids every request and every script, in case a hostile name ever gets past the escaping.
  const page = html`<!doctype html><html lang="en"><head><meta charset="utf-8"/>
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
    <meta name="viewport" content="width=device-width,initial-scale=1"/>
    <title>${TEXT.title}: ${name}</title><style>${new Raw(STYLE)}</style></head><body>
    <header class="top"><div class="kind">${TEXT.title}</div><h1>${name}</h1><p class="soft">${oneLine(root, 300)} · ${TEXT.made(clock(nowMs, true))}</p></header>
    <main>${
      tasks.length === 0
        ? html`<p>${TEXT.nothing}</p>`
        : html`${overview(report)}
      <h2>${TEXT.tasks}</h2>${tasks.map((task, index) => taskCard(task, index, index === 0 || tasks.length <= OPEN_TASKS))}`
    }
    ${leftOut > 0 && html`<p class="soft">${TEXT.leftOut(leftOut)}</p>`}
    ${others.length > 0 && othersCard(others)}</main>
    <footer>postflight-guard</footer></body></html>`
  return `${page.text}\n`
}

function othersCard(others: Report['others']): Html {
  return html`<h2>${TEXT.otherEvents}</h2><div class="card"><ol class="events">${others.map(
    ({ timeMs, tone, words, task }) =>
      html`<li class="${tone}"><time>${clock(timeMs, true)}</time><span>${task !== undefined && `${task}: `}${words}</span></li>`,
  )}</ol></div>`
}
