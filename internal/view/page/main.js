// The page: what is chosen, and what follows from it.
performance.mark("begin");
const runs = data.runs.map((columns) => new Run(columns));
const state = {
  thread: "", event: "0", measure: "samples", reversed: false, merged: false, compare: runs.length > 1,
  query: "", selected: -1,
};
let groups = [];
const table = new Table((group) => select(group, true));
const graph = new Graph({
  select: (group) => select(group, false),
  clear: () => {
    $("query").value = state.query = "";
    select(-1, false);
    search();
  },
  describe: (node) => describeFrame(graph.tree, groups, node, state.measure === "period" ? unit() : "samples"),
});
const openTab = fillTabs();

const unit = () => runs[0].events[state.event] || "events";
const shownRuns = () => (state.compare ? runs : runs.slice(0, 1));

// recompute follows every choice but the search and the selection.
function recompute() {
  const name = state.selected >= 0 ? groups[state.selected].name : null;
  const used = shownRuns();
  for (const run of used) run.weigh(accepted(run, runs[0], state), state.measure === "period");
  groups = makeGroups(used, state.compare ? "name" : state.merged ? "tiers" : "own");
  setTotals(used, groups);
  const tree = makeTree(used, groups, state.reversed);
  graph.show(tree, { groups, reversed: state.reversed, compare: state.compare });
  $("merged").disabled = state.compare; // by name, all tiers are one
  showLegend(used, groups, state.compare);
  showSummary(used);
  $("empty").hidden = tree.size > 1;
  $("empty").textContent = runs[0].size ? "The chosen threads have no samples of this event." : "The recording has no samples.";
  const same = name === null ? -1 : groups.findIndex((group) => group.name === name && group.total[0] > 0);
  state.selected = same;
  search();
  showDetail(used, groups, same, (group) => select(group, true), close);
}

function showSummary(used) {
  const text = `${grouped(used[0].all)} ${state.measure === "period" ? unit() : "samples of " + unit()}`;
  $("summary").textContent = used.length > 1 ? `${text}, compared with ${grouped(used[1].all)}` : text;
}

// search marks what matches; without a query, the selected function.
function search() {
  const match = matchGroups(groups, state.query);
  const isFound = match && match.includes(1);
  const marked = match || (state.selected >= 0 ? Uint8Array.from(groups, (group) => (group.id === state.selected ? 1 : 0)) : null);
  const share = graph.mark(marked, match !== null);
  $("matches").textContent = !match ? "" : isFound ? `${percent(share)} in ${grouped(sum([...match]))} ${sum([...match]) === 1 ? "function" : "functions"}` : "no match";
  table.show(groups, { compare: state.compare, match, selected: state.selected });
}

// select shows a function, and with isFound moves the graph to it. -1 is none.
function select(group, isFound) {
  state.selected = group;
  openTab($("tab-functions"));
  showDetail(shownRuns(), groups, group, (other) => select(other, true), close);
  table.mark(group);
  if (!state.query) graph.mark(group < 0 ? null : Uint8Array.from(groups, (g) => (g.id === group ? 1 : 0)), false);
  if (isFound && group >= 0) graph.reveal(group);
}

function close() {
  select(-1, false);
  graph.box.focus();
}

let waiting = 0;
$("query").addEventListener("input", () => {
  state.query = $("query").value.trim();
  clearTimeout(waiting);
  waiting = setTimeout(search, 80); // not for each letter
});
$("query").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  event.preventDefault();
  clearTimeout(waiting);
  if (event.key === "Escape") $("query").value = "";
  state.query = $("query").value.trim();
  search();
  graph.box.focus();
});
$("controls").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  const isTyping = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  if (event.key !== "/" || isTyping || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  $("query").focus();
  $("query").select();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => graph.recolour());
for (const [event, isPrinting] of [["beforeprint", true], ["afterprint", false]]) {
  addEventListener(event, () => {
    document.documentElement.classList.toggle("printing", isPrinting);
    graph.recolour();
    graph.resize();
  });
}

showRecording(data.title);
fillControls(runs[0], state, recompute);
recompute();
performance.mark("first draw");
