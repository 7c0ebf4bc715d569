// The controls above the graph: which threads, which event, and how they are shown.
const threadsListed = 200;

// fillControls makes the choices, and calls change after one was made.
function fillControls(run, state, change) {
  const option = (value, text) => make("option", { value }, text);
  const offer = (id, name, choices) => {
    const element = clear($(id), ...choices);
    element.value = state[name];
    element.hidden = element.options.length < 2;
    element.addEventListener("change", () => {
      state[name] = element.value;
      change();
    });
  };
  const events = run.sum(run.samples.event, run.events.length);
  state.event = String(Math.max(0, events.indexOf(Math.max(...events))));
  const weights = run.samples.event.map((id, row) => id + ":" + run.samples.period[row] / run.samples.count[row]);
  if (new Set(weights).size > new Set(run.samples.event).size) state.measure = "period"; // perf's shares
  offer("events", "event", run.events.map((name, i) => option(String(i), `${shortened(name, 40)} (${grouped(events[i])})`)));
  offer("threads", "thread", threadChoices(run, option));
  offer("measure", "measure", [option("samples", "by samples"), option("period", "by event counts")]);
  for (const name of ["reversed", "merged", "compare"]) {
    $(name).ariaPressed = String(state[name]);
    $(name).addEventListener("click", () => {
      state[name] = !state[name];
      $(name).ariaPressed = String(state[name]);
      change();
    });
  }
  $("compare").hidden = data.runs.length < 2;
  $("merged").hidden = new Set(run.functions.kind.filter((kind) => kind >= firstTier)).size < 2;
}

// threadChoices lists processes by samples, and the threads of each.
function threadChoices(run, option) {
  const { pid, tid, process, name } = run.threads;
  const samples = run.sum(run.samples.thread, pid.length);
  const processes = new Map();
  pid.forEach((id, thread) => {
    if (!samples[thread]) return;
    const label = `${shortened(texts[process[thread]], 30) || "process"} ${id}`;
    if (!processes.has(id)) processes.set(id, { id, label, samples: 0, threads: [] });
    processes.get(id).samples += samples[thread];
    processes.get(id).threads.push(thread);
  });
  const choices = [option("", "all threads")];
  let left = threadsListed;
  for (const { id, label, samples: all, threads } of [...processes.values()].sort((a, b) => b.samples - a.samples)) {
    const group = make("optgroup", { label });
    if (processes.size > 1) group.append(option("p" + id, `${label}: all (${grouped(all)})`));
    const listed = threads.length > 1 ? threads.sort((a, b) => samples[b] - samples[a]).slice(0, left) : [];
    group.append(...listed.map((thread) =>
      option("t" + thread, `${shortened(texts[name[thread]], 30) || "thread"} ${tid[thread]} (${grouped(samples[thread])})`)));
    left -= listed.length;
    if (group.children.length) choices.push(group);
  }
  return choices;
}

// accepted returns which rows of a run are chosen. The other run has other threads: those of the
// same names are compared.
function accepted(run, main, state) {
  const { pid, process, name } = run.threads;
  const chosen = Number(state.thread.slice(1));
  const isProcess = state.thread[0] === "p";
  const first = isProcess ? main.threads.pid.indexOf(chosen) : chosen;
  const isThread = (thread) => {
    if (!state.thread) return true;
    if (run === main) return isProcess ? pid[thread] === chosen : thread === chosen;
    return process[thread] === main.threads.process[first] && (isProcess || name[thread] === main.threads.name[first]);
  };
  let event = Number(state.event);
  if (run !== main) event = run.events.length === 1 ? 0 : run.events.indexOf(main.events[event]);
  return (row) => run.samples.event[row] === event && isThread(run.samples.thread[row]);
}

// matchGroups returns a byte for each group whose name or file has the query, null for no query.
function matchGroups(groups, query) {
  if (!query) return null;
  let isMatch = (text) => text.toLowerCase().includes(query.toLowerCase());
  const pattern = /^\/(.+)\/$/.exec(query);
  if (pattern) {
    try {
      const expression = new RegExp(pattern[1], "i");
      isMatch = (text) => expression.test(text);
    } catch { /* not yet complete: a text */ }
  }
  return Uint8Array.from(groups, (group) => (isMatch(group.name) || isMatch(group.file || "") ? 1 : 0));
}
