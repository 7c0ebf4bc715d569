// The source of a function, with the share of each line and the calls inlined there.
const sources = new Map(data.sources.map((source) => [source.file, source]));
const near = 3; // lines shown around those with samples, where a function has many

function sourceOf(run, groups, group, select) {
  const lines = linesOf(run, groups, group);
  lines.delete(0);
  const heading = make("h3", {}, "Source");
  if (group.file) heading.append(make("span", { className: "where", title: group.file }, place(group.file, group.line)));
  if (!lines.size) {
    const why = group.file ? "No sample has a line of this file." : "The recording has no source lines of this function.";
    return [heading, make("p", { className: "message" }, why)];
  }
  const numbers = [...lines.keys()].sort((a, b) => a - b);
  const source = sources.get(group.fileText);
  const texts = new Map();
  for (const part of source?.parts || []) part.lines.forEach((text, i) => texts.set(part.first + i, text));
  let note = numbers.every((n) => texts.has(n)) ? "" : "Lines with samples are missing in the file: it is not the one that was compiled.";
  if (!texts.size) note = "The page has no text of this file" + (source?.why ? ": " + source.why : "") + ".";
  // From where the function begins, if that is near, to a few lines after its last one.
  const isClose = group.line > 0 && group.line <= numbers[0] && texts.has(group.line) && numbers[0] - group.line < 200;
  const first = isClose ? group.line : numbers[0] - near;
  const last = numbers.at(-1) + near;
  const isShown = (n) => lines.has(n) || (texts.has(n) && n >= first && n <= last &&
    (numbers.length < 50 || numbers.some((number) => Math.abs(number - n) <= near)));
  const shown = [...new Set([...texts.keys(), ...numbers])].filter(isShown).sort((a, b) => a - b);
  const rows = shown.flatMap((n, i) => {
    const row = sourceLine(n, texts.get(n) || "", lines.get(n), groups, select);
    const isGap = texts.size && i && shown[i - 1] < n - 1;
    return isGap ? [make("tr", { className: "gap" }, make("td", { colSpan: 4 }, "⋯")), row] : [row];
  });
  const head = make("tr", {}, ...["Self", "Total", "Line", "Source"].map((name) => make("th", { scope: "col" }, name)));
  const table = make("table", { className: "source" }, make("thead", {}, head), make("tbody", {}, ...rows));
  const box = make("div", { className: "code", tabIndex: 0, role: "region", "aria-label": "Source lines" }, table);
  return [heading, note && make("p", { className: "message" }, note), box];
}

function sourceLine(number, text, line, groups, select) {
  const share = (value) => make("td", { className: "number" }, value ? percent(value) : "");
  const code = make("td", { className: "text" }, make("code", {}, text));
  const row = make("tr", {}, share(line?.self), share(line?.total), make("td", { className: "line" }, String(number)), code);
  if (!line) return row;
  row.className = line.total >= 0.1 ? "hot" : line.total >= 0.01 ? "warm" : "used";
  const widest = [...line.inlined].sort((a, b) => b[1] - a[1]);
  for (const [id, value] of widest.slice(0, 5)) {
    const name = groups[id].name;
    code.append(make("button", {
      type: "button", className: "inlined", title: "Inlined here: " + shortened(name, 300), onclick: () => select(id),
    }, "↳ " + shortened(name, 60) + " " + percent(value)));
  }
  if (widest.length > 5) code.append(make("span", { className: "about" }, ` and ${widest.length - 5} others`));
  return row;
}
