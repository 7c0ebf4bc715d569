// The source of a function, with the share of each line and the calls inlined there.
const sources = new Map(data.sources.map((source) => [source.file, source]));

function sourceOf(run, groups, group, select) {
  const lines = linesOf(run, groups, group);
  lines.delete(0);
  const heading = make("h3", {}, "Source");
  if (group.file) heading.append(make("span", { className: "where", title: group.file }, place(group.file, group.line)));
  if (!lines.size) {
    const why = group.file ? "No sample has a line of this file." : "The recording has no source lines of this function.";
    return [heading, make("p", { className: "message" }, why)];
  }
  const source = sources.get(group.fileText);
  const body = make("tbody");
  const row = (number, text) => body.append(sourceLine(number, text, lines.get(number), groups, select));
  const numbers = [...lines.keys()].sort((a, b) => a - b);
  let note = "";
  if (source?.parts) {
    // From where the function begins, if that is near, to a few lines after its last one.
    const around = 3;
    const first = group.line && numbers[0] - group.line < 200 && group.line <= numbers[0] ? group.line : numbers[0] - around;
    let last = 0;
    const isNear = (n) => numbers.some((number) => Math.abs(number - n) <= around) || n === group.line;
    for (const part of source.parts) {
      part.lines.forEach((text, i) => {
        const number = part.first + i;
        if (number < first || number > numbers.at(-1) + around) return;
        if (numbers.length > 50 && !isNear(number)) return;
        if (last && number > last + 1) body.append(make("tr", { className: "gap" }, make("td", { colSpan: 4 }, "⋯")));
        last = number;
        row(number, text);
      });
    }
    const unseen = numbers.filter((n) => !source.parts.some((part) => n >= part.first && n < part.first + part.lines.length));
    if (unseen.length) note = "Lines with samples are missing in the file: it is not the one that was compiled.";
  }
  if (!body.rows.length) {
    numbers.forEach((number) => row(number, ""));
    note = "The page has no text of this file" + (source?.why ? ": " + source.why : "") + ".";
  }
  const head = make("tr", {}, ...["Self", "Total", "Line", "Source"].map((name) => make("th", { scope: "col" }, name)));
  const table = make("table", { className: "source" }, make("thead", {}, head), body);
  const box = make("div", { className: "code", tabIndex: 0, role: "region", "aria-label": "Source lines" }, table);
  return [heading, ...(note ? [make("p", { className: "message" }, note)] : []), box];
}

function sourceLine(number, text, line, groups, select) {
  const share = (value) => make("td", { className: "number" }, value ? percent(value) : "");
  const code = make("td", { className: "text" }, make("code", {}, text));
  const row = make("tr", {}, share(line?.self), share(line?.total), make("td", { className: "line" }, String(number)), code);
  if (!line) return row;
  row.className = line.total >= 0.1 ? "hot" : line.total >= 0.01 ? "warm" : "used";
  const widest = [...line.inlined].sort((a, b) => b[1] - a[1]);
  for (const [id, value] of widest.slice(0, 5)) {
    const group = groups[id];
    const button = make("button", { type: "button", className: "inlined", title: "Inlined here: " + shortened(group.name, 300) },
      "↳ " + shortened(group.name, 60) + " " + percent(value));
    button.addEventListener("click", () => select(id));
    code.append(button);
  }
  if (widest.length > 5) code.append(make("span", { className: "about" }, " and " + (widest.length - 5) + " others"));
  return row;
}
