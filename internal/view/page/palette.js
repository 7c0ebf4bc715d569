// Colours are in the style sheet, for light, dark and paper.
const kinds = ["unknown", "kernel", "native", "JIT", "interpreter", "baseline", "middle", "optimized", "stub"];
const kindClass = (kind) => "kind-" + kinds[kind].toLowerCase();
const steps = 24; // shades between unchanged and the largest change

function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue("--" + name).trim();
  const rgb = (name) => [1, 3, 5].map((at) => parseInt(read(name).slice(at, at + 2), 16));
  const shades = (to) => Array.from({ length: steps + 1 }, (_, s) =>
    `rgb(${rgb("same").map((from, c) => Math.round(from + ((rgb(to)[c] - from) * s) / steps)).join(",")})`);
  return {
    kinds: kinds.map((_, kind) => read(kindClass(kind))), root: read("root"), ink: read("ink"),
    faint: read("faint"), background: read("background"), accent: read("accent"), focus: read("focus"),
    more: shades("more"), less: shades("less"),
  };
}

// changeColour is redder the more a share grew, and bluer the more it fell. The square root keeps
// small changes visible.
function changeColour(palette, difference, largest) {
  const step = largest ? Math.round(steps * Math.min(1, Math.sqrt(Math.abs(difference) / largest))) : 0;
  return (difference > 0 ? palette.more : palette.less)[step];
}
