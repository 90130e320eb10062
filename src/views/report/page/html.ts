import { stripControl } from '../../../kernel/text.ts'

/** Every value is escaped. */

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = Html | string | number | false | undefined | readonly Html[]

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.reduce((text, part, at) => text + textOf(values[at - 1]) + part.replace(/\s*\n\s*/g, ''), ''))
}

function textOf(value: Value): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  return typeof value === 'object' ? value.map(({ text }) => text).join('') : escaped(String(value))
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return stripControl(text).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}

export const STYLE = `
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1c2430;--soft:#5b6675;--line:#dfe3e9;--track:#eceff3;
--good:#187a42;--good-bg:#dcf5e5;--warn:#9a5b00;--warn-bg:#fdeecb;--bad:#b3261e;--bad-bg:#fde3e1;--wait:#1f5fbf;--wait-bg:#dfeafc;--plain:#56606d;--plain-bg:#e9ecf0;
--good-bar:#28925a;--warn-bar:#b47a10;--bad-bar:#d9483f;--wait-bar:#4a7fd4;--plain-bar:#7d8997}
@media(prefers-color-scheme:dark){:root{--bg:#12161c;--card:#1a2029;--ink:#e6eaf0;--soft:#9aa6b5;--line:#2c3541;--track:#252d38;
--good:#6fdc9c;--good-bg:#173a28;--warn:#f3c061;--warn-bg:#41300f;--bad:#ff9a92;--bad-bg:#471d1b;--wait:#9cc2ff;--wait-bg:#1b3154;--plain:#b3bdc9;--plain-bg:#2a323d;
--good-bar:#3fae70;--warn-bar:#c99327;--bad-bar:#d4574e;--wait-bar:#5b8fe0;--plain-bar:#6b7684}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;overflow-wrap:anywhere}
main,header.top{max-width:1080px;margin:0 auto;padding:0 20px}
header.top{padding-top:32px}
h1{font-size:26px;line-height:1.2;margin:0 0 4px}
h2{font-size:13px;letter-spacing:.06em;text-transform:uppercase;color:var(--soft);margin:32px 0 10px}
h3{font-size:15px;margin:0}
p{margin:4px 0}
a{color:inherit}
.soft,small{color:var(--soft);font-size:13px}
.kind{color:var(--soft);font-size:13px;font-weight:600}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:16px 18px;margin:0 0 12px;-webkit-print-color-adjust:exact;print-color-adjust:exact}
.story .rows{gap:4px;margin-top:8px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin-top:18px}
.tile{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:12px 16px}
.tile b{display:block;font-size:24px;line-height:1.2;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:13px}
.tile.bad b{color:var(--bad)}.tile.good b{color:var(--good)}
.badge{display:inline-block;border-radius:99px;padding:1px 9px;font-size:12px;font-weight:600;white-space:nowrap;background:var(--plain-bg);color:var(--plain)}
.badge.good{background:var(--good-bg);color:var(--good)}.badge.warn{background:var(--warn-bg);color:var(--warn)}
.badge.bad{background:var(--bad-bg);color:var(--bad)}.badge.wait{background:var(--wait-bg);color:var(--wait)}
.list{list-style:none;margin:0;padding:0}
.list li{display:flex;flex-wrap:wrap;gap:4px 10px;align-items:baseline;padding:6px 0;border-top:1px solid var(--line)}
.list li:first-child{border-top:0}
.rows{display:grid;gap:7px}.more>.rows,.more>.list{margin-top:7px}
.row{display:grid;grid-template-columns:minmax(120px,220px) 1fr;gap:14px;align-items:center}
.row>a,.row>span{white-space:nowrap;overflow:hidden;text-overflow:ellipsis;font-size:13px;text-decoration:none}
.row>a:hover{text-decoration:underline}
.track{position:relative;height:18px;background:var(--gaps,none),var(--track);border-radius:5px}
.track.two{height:30px}
.track i{position:absolute;top:5px;height:8px;min-width:4px;border-radius:4px;background:var(--plain-bar)}
.track.two i.r{top:17px}
.track i.good{background:var(--good-bar)}.track i.warn{background:var(--warn-bar)}.track i.bad{background:var(--bad-bar)}.track i.wait{background:var(--wait-bar)}
.track u{position:absolute;top:2px;width:3px;height:14px;margin-left:-1px;border-radius:2px;background:var(--ink);opacity:.75}
.track u.bad{width:4px;background:var(--bad-bar);opacity:1;box-shadow:0 0 0 1px var(--card)}
.track s{position:absolute;top:5px;height:8px;min-width:3px;background:repeating-linear-gradient(45deg,var(--wait-bar) 0 4px,var(--card) 4px 7px);border-radius:3px}
.axis{position:relative;height:16px;font-size:11px;color:var(--soft)}
.axis span{position:absolute;white-space:nowrap;border-left:1px solid var(--line);padding-left:4px;line-height:14px}
.key{display:flex;flex-wrap:wrap;gap:4px 16px;margin-top:10px;font-size:12px;color:var(--soft)}
.key i,.key u,.key s{display:inline-block;position:static;vertical-align:-1px;margin-right:5px;height:9px;width:16px;border-radius:4px;background:var(--plain-bar)}
.key i.good{background:var(--good-bar)}.key i.warn{background:var(--warn-bar)}.key i.bad{background:var(--bad-bar)}.key i.wait{background:var(--wait-bar)}
.key u{width:3px;height:13px;background:var(--ink);opacity:.75}
.key u.bad{background:var(--bad-bar);opacity:1}
.key s{background:repeating-linear-gradient(45deg,var(--wait-bar) 0 4px,var(--card) 4px 7px)}
details.task>summary,.more>summary{cursor:pointer;list-style:none}
summary::-webkit-details-marker{display:none}
details.task>summary{display:flex;flex-wrap:wrap;gap:4px 10px;align-items:baseline}
details.task>summary h3::before{content:"▸";display:inline-block;width:1.1em;color:var(--soft)}
details.task[open]>summary h3::before{content:"▾"}
.task>div{scroll-margin-top:64px}
.story{border-top:1px solid var(--line);margin-top:14px;padding-top:14px}
.story>.head{display:flex;flex-wrap:wrap;gap:4px 10px;align-items:baseline;margin-bottom:8px}
.more>summary{color:var(--soft);font-size:13px;margin-top:8px}
.more>summary::before{content:"▸ "}.more[open]>summary::before{content:"▾ "}
ol.events{list-style:none;margin:6px 0 0;padding:0;font-size:13px}
.events li{display:grid;grid-template-columns:auto 1fr;gap:10px;padding:2px 0 2px 12px;border-left:3px solid var(--plain-bar)}
.events li.good{border-color:var(--good-bar)}.events li.warn{border-color:var(--warn-bar)}.events li.bad{border-color:var(--bad-bar)}.events li.wait{border-color:var(--wait-bar)}
.events time{color:var(--soft);font-variant-numeric:tabular-nums;white-space:nowrap}
.run{display:grid;grid-template-columns:auto 1fr;gap:8px 28px;align-items:start;margin-top:12px}
.graph{max-width:100%;height:auto;font:13px system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
.graph text{fill:var(--ink)}.graph .sub,.graph .label{fill:var(--soft);font-size:11px}
.graph .label{paint-order:stroke;stroke:var(--card);stroke-width:4px}.graph .edge{fill:none;stroke:var(--plain-bar);stroke-width:1.5}.graph .head,.graph .dot{fill:var(--plain-bar)}
.graph rect{fill:var(--plain-bg);stroke:var(--plain-bar);stroke-width:1.2}
.graph .done rect{fill:var(--good-bg);stroke:var(--good-bar)}.graph .running rect{fill:var(--warn-bg);stroke:var(--warn-bar)}.graph .failed rect{fill:var(--bad-bg);stroke:var(--bad-bar)}
.graph .end{stroke:var(--card);stroke-width:3}.graph .end.good{fill:var(--good-bar)}.graph .end.bad{fill:var(--bad-bar)}
table{border-collapse:collapse;width:100%;font-size:13px}
th{text-align:left;color:var(--soft);font-weight:600}
th,td{padding:5px 10px 5px 0;border-top:1px solid var(--line);vertical-align:top}
tr:first-child th,tr.under td{border-top:0}
tr.under td{padding-top:0}
td:first-child b{display:inline-block;min-width:10ch}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;padding-right:0;padding-left:10px}
.steps{list-style:none;margin:6px 0 0;padding:0;color:var(--soft);font-size:13px}
.steps .done::before{content:"✓ ";color:var(--good)}.steps .skipped::before,.steps .failed::before{content:"✗ ";color:var(--bad)}.steps .open::before{content:"· "}
footer{max-width:1080px;margin:0 auto;padding:16px 20px 48px;color:var(--soft);font-size:12px}
@media(max-width:640px){main,header.top,footer{padding-left:14px;padding-right:14px}.card{padding:13px 14px}
.row{grid-template-columns:1fr;gap:2px}.run{grid-template-columns:1fr}.graph{justify-self:center}.axis{display:none}td:first-child b{min-width:6ch}td .badge{white-space:normal;overflow-wrap:normal}th,td{padding-right:6px}td.n,th.n{padding-left:6px}
.tiles{grid-template-columns:1fr 1fr;gap:8px}.tile{padding:10px 12px}.tile b{font-size:20px}.tile:last-child:nth-child(odd){grid-column:1/-1}}
`.replaceAll('\n', '')
