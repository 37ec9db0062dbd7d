"""How a page of scores looks, by day and by night, on a desk and on a phone: no text is smaller than 12 pixels."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6875; --paper: #fff; --card: #f5f7f9; --rule:
  #d5dce3; --main: #2f6f9f; --other: #c2703d; --third: #7a8794; --cell: 47,111,159; --note: #fff4e0;
  --noteink: #6b4a00; --c0: #2f6f9f; --c1: #d08c46; --c2: #5a9a6f; --c3: #b05a7a; --c4: #8a7ab5; --c5:
  #a8923a; --c6: #4c9aa8; --c7: #8b939b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #a3afba; --paper: #14191f; --card:
  #1d242c; --rule: #37424d; --main: #7db8e0; --other: #e0a06c; --third: #95a1ac; --cell: 125,184,224; --note:
  #3a2f16; --noteink: #f0d9a8; --c0: #6fa9d2; --c1: #d9a066; --c2: #79b88d; --c3: #cc83a0; --c4: #a99bd0;
  --c5: #c4b05e; --c6: #6fb9c6; --c7: #9aa3ab; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62rem;
  margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .3rem; }
p { margin: .3rem 0 .8rem; }
.soft { color: var(--soft); font-size: .87rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.6rem, 1fr)); gap: .6rem; margin: 1rem
  0; }
.tile { background: var(--card); border-radius: .5rem; padding: .6rem .8rem; }
.tile b { display: block; font-size: 1.45rem; font-variant-numeric: tabular-nums; line-height: 1.25; }
.tile span { font-size: .8rem; color: var(--soft); display: block; }
.note { background: var(--note); color: var(--noteink); border-radius: .5rem; padding: .5rem .8rem; margin:
  .4rem 0; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 0 2rem; }
.plot { position: relative; height: 15rem; margin: .4rem .6rem 3rem 2.9rem; }
.plot.square { height: auto; aspect-ratio: 1; max-height: 21rem; }
.plot svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible; }
.plot span { position: absolute; font-size: 12px; line-height: 1; color: var(--soft); white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.plot .y { right: calc(100% + .4rem); transform: translateY(50%); }
.plot .x { top: calc(100% + .4rem); transform: translateX(-50%); }
.plot .x.first { transform: none; }
.plot .x.last { transform: translateX(-100%); }
.plot .across { top: calc(100% + 1.4rem); right: 0; }
.plot .mark { bottom: calc(100% - 14px); transform: translateX(4px); color: var(--other); }
.plot .mark.left { transform: translateX(calc(-100% - 4px)); }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; font-size: .85rem; color: var(--soft); margin: .2rem
  0 .5rem; }
.key i { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .35rem;
  vertical-align: -1px; }
path, line { vector-effect: non-scaling-stroke; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .4rem 0 1rem; font-size: .9rem; }
th, td { padding: .2rem .7rem .2rem 0; text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
th { font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--rule); }
table.words td { text-align: left; vertical-align: top; }
table.words th { text-align: left; }
table.confusion td, table.confusion th { padding: .3rem .6rem; }
.bars { display: grid; grid-template-columns: minmax(5rem, max-content) 1fr 3.4rem; gap: .15rem .6rem;
  font-size: .88rem; align-items: center; margin: .4rem 0 1rem; }
.bars div { overflow-wrap: anywhere; }
.bars u { display: block; height: .75rem; border-radius: 2px; background: var(--main); min-width: 1px;
  text-decoration: none; }
.bars em { font-style: normal; text-align: right; font-variant-numeric: tabular-nums; }
.controls { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; margin: .4rem 0; }
.controls input[type=range] { flex: 1 1 12rem; min-width: 9rem; accent-color: var(--main); }
select, code, output { font: inherit; }
code { font-family: ui-monospace, monospace; font-size: .87em; background: var(--card); border-radius: .3rem;
  padding: .1rem .35rem; overflow-wrap: anywhere; }
footer { margin-top: 2.5rem; border-top: 1px solid var(--rule); padding-top: .6rem; }
"""
