// The table of functions.
const rowsAtOnce = 200;

class Table {
  constructor(select) {
    this.select = select;
    this.sort = null;
  }

  // show lists the groups that have samples and pass the filter.
  show(groups, { compare, match, selected }) {
    $("table").className = compare ? "compared" : "";
    Object.assign(this, { groups, compare, match, selected, rows: rowsAtOnce });
    const gained = (key) => (group) => group[key][0] - group[key][1];
    this.columns = [
      { key: "self", name: "Self", hint: "Share of samples in the function itself", value: (g) => g.self[0], text: percent },
      { key: "total", name: "Total", hint: "Share of samples in the function and in what it calls", value: (g) => g.total[0], text: percent },
      { key: "name", name: "Function", value: (g) => g.name },
    ];
    if (compare) {
      this.columns.splice(1, 0, { key: "self-change", name: "±", spoken: "Change of self", hint: "Change of self, in points", value: gained("self"), text: change });
      this.columns.splice(3, 0, { key: "total-change", name: "±", spoken: "Change of total", hint: "Change of total, in points", value: gained("total"), text: change });
    }
    if (!this.columns.some((column) => column.key === this.sort?.key)) this.sort = null;
    this.sort ||= { key: compare ? "self-change" : "self", isUp: false };
    this.fill();
  }

  fill() {
    const column = this.columns.find((column) => column.key === this.sort.key);
    const direction = this.sort.isUp ? 1 : -1;
    const order = column.text === change
      ? (a, b) => Math.abs(column.value(a)) - Math.abs(column.value(b)) // either way
      : (a, b) => (column.value(a) < column.value(b) ? -1 : column.value(a) > column.value(b) ? 1 : 0);
    const listed = this.groups
      .filter((g) => (g.total[0] > 0 || g.total[1] > 0) && (!this.match || this.match[g.id]))
      .sort((a, b) => direction * order(a, b) || b.total[0] - a.total[0] || a.id - b.id);
    this.listed = listed;
    clear($("table").tHead, make("tr", {}, ...this.columns.map((column) => this.header(column))));
    clear($("table").tBodies[0], ...listed.slice(0, this.rows).map((group) => this.row(group)));
    clear($("more"));
    const left = listed.length - this.rows;
    if (left > 0) {
      const more = () => {
        this.rows *= 5;
        this.fill();
      };
      $("more").append(make("button", { type: "button", onclick: more }, "Show more"), " of " + grouped(left) + " others");
    } else if (!listed.length) $("more").append(this.match ? "No function matches." : "No function has samples.");
  }

  header(column) {
    const isSorted = this.sort.key === column.key;
    const sort = () => {
      this.sort = { key: column.key, isUp: isSorted ? !this.sort.isUp : column.key === "name" };
      this.fill();
      document.querySelector(`#table th[data-key="${column.key}"] button`).focus();
    };
    const button = make("button", { type: "button", title: column.hint || "", onclick: sort }, column.name);
    if (column.spoken) button.setAttribute("aria-label", column.spoken);
    return make("th", {
      scope: "col", "data-key": column.key, className: column.key,
      "aria-sort": isSorted ? (this.sort.isUp ? "ascending" : "descending") : "none",
    }, button);
  }

  row(group) {
    const row = make("tr", {}, ...this.columns.map((column) => {
      if (column.key === "name") return this.name(group);
      const value = column.value(group);
      const kind = column.text === change ? (value > 0.0005 ? " more" : value < -0.0005 ? " less" : "") : "";
      return make("td", { className: "number" + kind }, column.text(value));
    }));
    if (group.id === this.selected) row.setAttribute("aria-current", "true");
    row.addEventListener("click", () => this.select(group.id));
    return row;
  }

  name(group) {
    const where = place(group.file, group.line) || group.object.slice(group.object.lastIndexOf("/") + 1);
    const cell = make("td", { className: "name" }, functionButton(group));
    if (this.compare) return cell;
    const about = make("span", { className: "about" }, kinds[group.kind], where && " · " + where);
    about.title = group.file || group.object;
    cell.append(about);
    return cell;
  }

  // mark shows which group is selected.
  mark(selected) {
    this.selected = selected;
    [...$("table").tBodies[0].rows].forEach((row, i) => {
      const isSelected = this.listed[i].id === selected;
      if (isSelected) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
      if (isSelected) row.scrollIntoView({ block: "nearest" });
    });
  }
}

// functionButton has a group's colour and name. A click on it bubbles to what has it.
function functionButton(group) {
  const chip = make("span", { className: "chip kind-" + kinds[group.kind].toLowerCase(), "aria-hidden": "true" });
  return make("button", { type: "button", className: "function", title: shortened(group.name, 1000) }, chip, make("span", {}, ...breakable(shortened(group.name, 200))));
}
