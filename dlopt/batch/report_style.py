"""How the report looks."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --quiet: #5d6878; --line: #d9dee6;
  --page: #fff; --band: #f4f6f9; --bad: #b3003c; --link: #0058a3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --quiet: #9aa5b5; --line: #394353;
  --page: #151a21; --band: #1e252f; --bad: #ff7a9c; --link: #7ab8f5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1200px; margin: 0 auto; padding: 24px 20px 48px; }
h1 { font-size: 28px; margin: 0 0 16px; }
h2 { font-size: 21px; margin: 36px 0 8px; padding-top: 12px; border-top: 2px solid var(--line); }
h2 small { font-weight: normal; color: var(--quiet); font-size: 17px; }
h3 { font-size: 16px; margin: 20px 0 6px; }
a { color: var(--link); }
nav a { margin-right: 14px; white-space: nowrap; }
.quiet, footer { color: var(--quiet); }
.facts { display: flex; flex-wrap: wrap; gap: 10px; }
.facts div { background: var(--band); border-radius: 6px; padding: 8px 16px; color: var(--quiet); }
.facts b { display: block; font-size: 22px; color: var(--ink); }
.alarm { border-left: 4px solid var(--bad); background: var(--band); margin: 16px 0;
  padding: 10px 10px 10px 30px; }
.bad { color: var(--bad); font-style: normal; font-weight: 600; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 6px 0; }
th, td { padding: 4px 12px; text-align: left; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; color: var(--quiet); white-space: nowrap; }
td.n, th.n { text-align: right; white-space: nowrap; }
tbody tr:hover { background: var(--band); }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--page);
  white-space: nowrap; }
details { margin: 10px 0; }
summary { cursor: pointer; color: var(--link); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr));
  gap: 20px; margin: 18px 0; }
figure { margin: 0; padding: 12px; border: 1px solid var(--line); border-radius: 6px; }
figcaption { font-weight: 600; margin-bottom: 6px; }
figure svg { width: 100%; height: auto; display: block; }
svg path { fill: none; stroke-width: 2; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg text { fill: var(--quiet); font-size: 12px; text-anchor: middle; }
svg text.left { text-anchor: end; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 13px; margin-top: 8px; }
.legend span { white-space: nowrap; }
figure .pen { width: 26px; height: 8px; display: inline-block; margin-right: 5px; }
a.one { white-space: nowrap; }
img { max-width: 100%; background: #fff; }
@media (max-width: 600px) { svg text { font-size: 18px; } main { padding: 16px 12px 32px; }
  th, td { padding: 4px 8px; } figure { padding: 10px 6px; } }
dt { font-weight: 600; } dd { margin: 0 0 8px 0; color: var(--quiet); }
"""
