// What all files use: the data, elements, and numbers as text.
const data = JSON.parse(document.getElementById("data").textContent);
const texts = data.texts;
const $ = (id) => document.getElementById(id);

// make returns an element. Names are hostile: texts become text nodes, never markup.
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function clear(element, ...children) {
  element.replaceChildren(...children);
  return element;
}

const chip = (className) => make("span", { className: "chip " + className, "aria-hidden": "true" });
const grouped = (n) => Math.round(n).toLocaleString("en-US");

function percent(share) {
  const x = Math.round(1e9 * share) / 1e7; // without the faults of sums
  if (x > 0 && x < 0.01) return "<0.01%";
  if (x < 100 && x > 99.95) return ">99.9%";
  return (x === 0 || x >= 100 ? x.toFixed(0) : x < 0.1 ? x.toFixed(2) : x.toFixed(1)) + "%";
}

// change is a difference of shares, in points of percent.
function change(difference) {
  const x = (100 * Math.abs(difference)).toFixed(Math.abs(difference) < 0.001 ? 2 : 1);
  return Number(x) === 0 ? "±0" : (difference > 0 ? "+" : "−") + x;
}

const shortened = (s, most) => (s.length > most ? s.slice(0, most - 1) + "…" : s);

// breakable is a name that lines break in where people would.
function breakable(name) {
  return name.split(/(?<=[.:;(,<\/_])(?![:_])|(?<=[a-z])(?=[A-Z])/).flatMap((part) => [part, make("wbr")]);
}

// brief is a name without namespaces and parameters, for narrow frames.
function brief(name) {
  const bare = name.replace(/(?<=[^\s(]{2})\(.*$/s, "");
  if (/[\s/]|\.\d/.test(bare)) return name; // paths, and clones of GCC: f.isra.0
  return bare.includes("::") ? bare.split("::").slice(-2).join("::") : bare.split(".").slice(-2).join(".");
}

// place is FILE:LINE without directories, or "".
const place = (file, line) => file && file.slice(file.lastIndexOf("/") + 1) + (line ? ":" + line : "");

// placeOf is where a group's code comes from. Objects of jitted functions say nothing to people.
const placeOf = (group) => place(group.file, group.line) || (group.kind < firstTier ? place(group.object, 0) : "");
