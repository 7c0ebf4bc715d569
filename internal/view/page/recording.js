// What was recorded, and the colours' meaning.
function showRecording(title) {
  const list = make("dl", {});
  for (const { label, text } of data.facts) list.append(make("dt", {}, label), make("dd", {}, text));
  const section = (name, lines, className) => lines.length
    ? [make("h2", {}, name), make("ul", { className }, ...lines.map((line) => make("li", {}, line)))] : [];
  clear($("recording"), make("h2", {}, "What was recorded"), list,
    ...section("Warnings", data.warnings, "warnings"), ...section("About this page", data.notes, "notes"),
    make("h2", {}, "Keys"), keys());
  if (data.warnings.length) {
    $("tab-recording").append(make("span", { className: "count", title: "Warnings" }, String(data.warnings.length)));
  }
  $("title").textContent = title;
}

function keys() {
  const list = make("dl", { className: "keys" });
  const rows = [
    ["/", "search; a text between slashes is a regular expression"], ["↑ ↓ ← →", "move in the graph"],
    ["Enter", "zoom to the frame, show its function"], ["Escape", "zoom out, then clear the selection and the search"],
  ];
  for (const [key, text] of rows) list.append(make("dt", {}, make("kbd", {}, key)), make("dd", {}, text));
  return list;
}

// showLegend says what colours mean, with the share of samples taken in each kind.
function showLegend(runs, groups, compare) {
  const legend = clear($("legend"));
  if (compare) {
    for (const [name, className] of [["less than before", "less"], ["same", "same"], ["more than before", "more"]]) {
      legend.append(make("li", {}, make("span", { className: "chip " + className, "aria-hidden": "true" }), name));
    }
    legend.append(make("li", { className: "about" }, "Widths are the mean of both recordings."));
    return;
  }
  const shares = kinds.map(() => 0);
  const isUsed = kinds.map(() => false);
  for (const group of groups) {
    if (!(group.total[0] > 0)) continue;
    shares[group.kind] += group.self[0];
    isUsed[group.kind] = true;
  }
  kinds.forEach((kind, k) => {
    if (!isUsed[k]) return;
    legend.append(make("li", {}, make("span", { className: "chip kind-" + kind.toLowerCase(), "aria-hidden": "true" }),
      kind + " ", make("span", { className: "number" }, percent(shares[k]))));
  });
  if (runs[0].inlined.includes(1)) {
    legend.append(make("li", {}, make("span", { className: "chip inlined", "aria-hidden": "true" }, "↳"), "inlined"));
  }
}
