// What was recorded, and what colours mean.
function showRecording() {
  $("title").textContent = $("title").title = data.title;
  $("facts").append(...data.facts.flatMap(({ label, text }) => [make("dt", {}, label), make("dd", {}, text)]));
  for (const [id, lines] of [["warnings", data.warnings], ["notes", data.notes]]) {
    $(id).hidden = !lines.length;
    $(id).querySelector("ul").append(...lines.map((line) => make("li", {}, line)));
  }
  const count = data.warnings.length;
  const title = "Warnings: " + count;
  if (count) $("about").append(make("span", { className: "count", title, role: "img", "aria-label": title }, String(count)));
  $("about").addEventListener("click", () => $("recording").showModal());
  $("recording").querySelector(".close").addEventListener("click", () => $("recording").close());
}

// showLegend says what colours mean, with the share of samples taken in each kind.
function showLegend(runs, groups, compare) {
  const entry = (...parts) => make("li", {}, ...parts);
  if (compare) {
    clear($("legend"), entry(chip("less"), "less than before"), entry(chip("same"), "same"),
      entry(chip("more"), "more than before"), entry("Widths are the mean of both recordings."));
    return;
  }
  const self = kinds.map(() => -1); // -1: no such function
  for (const group of groups) {
    if (group.total[0] > 0) self[group.kind] = Math.max(self[group.kind], 0) + group.self[0];
  }
  clear($("legend"), ...kinds.map((kind, k) => self[k] < 0 ? "" : entry(chip(kindClass(k)), kind + " " + percent(self[k]))));
  if (runs[0].inlined.includes(1)) $("legend").append(entry("↳ ", "inlined"));
}
