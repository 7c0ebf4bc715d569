// Drawing frames on the canvas.
const rowHeight = 20;
const narrowest = 0.5; // pixels; narrower frames, and all below them, are not drawn
const matchWidth = 2; // of a match that is narrower
const widths = new Map(); // of labels, in pixels

// drawFrames draws what is in view, and returns the drawn frames for finding them by place.
function drawFrames(context, tree, view) {
  const { width, height, top, palette, groups, match } = view;
  const scale = width / (tree.value[view.node] || 1);
  const origin = tree.left[view.node];
  const lastLevel = Math.floor((top + height) / rowHeight);
  const drawn = [];
  const marked = []; // where the last narrow match of each level is
  const fill = (colour, alpha, x, y, wide, high) => {
    context.globalAlpha = alpha;
    context.fillStyle = colour;
    context.fillRect(x, y, Math.max(wide, narrowest), high);
  };
  fill(palette.background, 1, 0, 0, width, height);
  context.textBaseline = "middle";
  let lastParent = -1; // whose narrow children are drawn as one
  for (let i = 0; i < tree.size;) {
    const left = (tree.left[i] - origin) * scale;
    const wide = tree.value[i] * scale;
    if (left >= width || left + wide <= 0 || tree.level[i] > lastLevel) {
      i = tree.end[i];
      continue;
    }
    const y = tree.level[i] * rowHeight - top;
    if (wide < narrowest) {
      // All that follow below the same caller are as narrow: they are drawn as one.
      const parent = tree.parent[i];
      const x = Math.max(left, 0), all = Math.min((tree.right[parent] - origin) * scale, width) - x;
      if (parent !== lastParent && all >= narrowest) fill(palette.kinds[0], 0.45, x, y + 1, all, rowHeight - 1);
      lastParent = parent;
      if (!match || !view.matchBelow[i]) {
        i = tree.end[match ? i : parent];
        continue;
      }
    }
    if (y + rowHeight > 0) drawFrame(i, Math.max(left, 0), Math.min(left + wide, width), y);
    i++;
  }
  outline(view.hover, palette.ink, 1);
  if (view.hasFocus) outline(view.cursor, palette.focus, 2);
  return drawn;

  function drawFrame(i, x, end, y) {
    const isMatch = match && i > 0 && match[tree.group[i]];
    if (isMatch && end - x < matchWidth) {
      x = Math.min(x, width - matchWidth);
      if (x < marked[tree.level[i]] + 1) return; // it would cover the last one
      marked[tree.level[i]] = x;
      drawn.push({ i, x, y, width: matchWidth });
      fill(palette.accent, 1, x, y + 1, matchWidth, rowHeight - 1);
      return;
    }
    if (end - x < narrowest) return;
    drawn.push({ i, x, y, width: end - x });
    // An inlined call has no code of its own: no line divides it from its caller, and it is paler.
    const isInlined = tree.inlined[i];
    const isContext = tree.level[i] < tree.level[view.node];
    const isDim = view.dims && match && !isMatch;
    const alpha = (isDim ? 0.3 : 1) * (isInlined ? 0.62 : 1) * (isContext ? 0.55 : 1);
    const gap = isInlined && !view.reversed ? 0 : 1; // above; the line to a caller below is covered
    fill(colourOf(i), alpha, x, y + gap, end - x - 1, rowHeight - gap + (view.reversed && isInlined ? 1 : 0));
    if (isMatch) fill(palette.accent, 1, x, y + rowHeight - 3, end - x - 1, 3);
    if (end - x < 28) return;
    context.globalAlpha = isDim ? 0.55 : 1;
    context.fillStyle = palette.ink;
    context.fillText(labelOf(i, end - x - 9), x + 5, y + rowHeight / 2 + 1);
  }

  function colourOf(i) {
    if (view.compare) return changeColour(palette, differenceOf(tree, i), view.largest);
    return i ? palette.kinds[groups[tree.group[i]].kind] : palette.root;
  }

  // labelOf is what fits of a name: all, without namespaces, or its beginning.
  function labelOf(i, room) {
    const mark = tree.inlined[i] ? "↳ " : "";
    const name = i ? shortened(groups[tree.group[i]].name, 300) : "all";
    if (widthOf(mark + name) <= room) return mark + name;
    const label = mark + brief(name), wide = widthOf(label);
    if (wide <= room) return label;
    for (let length = Math.floor((label.length * room) / wide); length > 1; length -= 1 + (length >> 4)) {
      const cut = label.slice(0, length - 1) + "…";
      if (context.measureText(cut).width <= room) return cut;
    }
    return "";
  }

  function widthOf(label) {
    if (!widths.has(label)) widths.set(label, context.measureText(label).width);
    return widths.get(label);
  }

  function outline(node, colour, thick) {
    const frame = drawn.find((frame) => frame.i === node);
    if (!frame) return;
    context.globalAlpha = 1;
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.strokeRect(frame.x + thick / 2, frame.y + thick / 2 + 0.5, Math.max(frame.width - thick - 1, 1), rowHeight - thick);
  }
}

// differenceOf is how much a frame's share grew since the other run.
function differenceOf(tree, i) {
  return tree.weight[0][i] / tree.runs[0].scale - tree.weight[1][i] / tree.runs[1].scale;
}
