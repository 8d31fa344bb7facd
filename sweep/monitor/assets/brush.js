// A drag along an axis of parallel coordinates writes the filter for the tasks in its range, and applies it.

const least = 6; // pixels: less is a click

let drag = null; // the grip, where the drag began, and the rectangle that shows it

addEventListener("pointerdown", (event) => {
  if (!event.target.matches?.(".grip")) return;
  const grip = event.target;
  const mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const name of ["x", "width"]) mark.setAttribute(name, grip.getAttribute(name));
  mark.setAttribute("class", "grip brush");
  grip.after(mark);
  drag = { grip, mark, from: event.clientY, to: event.clientY };
  event.preventDefault(); // no text is marked
});

addEventListener("pointermove", (event) => {
  if (!drag) return;
  const box = drag.grip.getBoundingClientRect();
  drag.to = Math.min(Math.max(event.clientY, box.top), box.bottom);
  const top = drag.grip.ownerSVGElement.getBoundingClientRect().top;
  drag.mark.setAttribute("y", Math.min(drag.from, drag.to) - top);
  drag.mark.setAttribute("height", Math.abs(drag.to - drag.from));
});

addEventListener("pointerup", () => {
  if (!drag) return;
  const { grip, mark, from, to } = drag;
  drag = null;
  mark.remove();
  const term = Math.abs(to - from) >= least && termOf(grip, Math.min(from, to), Math.max(from, to));
  if (!term) return;
  const where = document.getElementById("where");
  where.value = where.value.trim() ? `(${where.value}) and ${term}` : term;
  where.form.submit();
});

addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !drag) return;
  drag.mark.remove();
  drag = null;
});

// termOf returns the filter for what is between two heights on an axis; "": nothing is.
function termOf(grip, top, bottom) {
  const { column, low, high, logarithmic, axis } = grip.dataset;
  if (column !== undefined) {
    const box = grip.getBoundingClientRect();
    const at = (y) => number((box.bottom - y) / box.height, Number(low), Number(high), logarithmic !== undefined);
    return `${decodeURIComponent(column)} >= ${at(bottom)} and ${decodeURIComponent(column)} <= ${at(top)}`;
  }
  const terms = [...grip.ownerSVGElement.querySelectorAll(`[data-axis="${axis}"][data-term]`)].filter((tick) => {
    const box = tick.getBoundingClientRect();
    const middle = (box.top + box.bottom) / 2;
    return middle >= top && middle <= bottom;
  }).map((tick) => decodeURIComponent(tick.dataset.term));
  return terms.length > 1 ? `(${terms.join(" or ")})` : (terms[0] ?? "");
}

// number returns what is at a place of a scale, with four digits of its length, and its ends as they
// are.
function number(place, low, high, logarithmic) {
  if (place <= 0) return low;
  if (place >= 1) return high;
  const value = logarithmic ? low * (high / low) ** place : low + place * (high - low);
  const more = logarithmic ? 0 : Math.log10(Math.max(Math.abs(low), Math.abs(high)) / (high - low));
  return Number(value.toPrecision(Math.min(15, 4 + Math.max(0, Math.ceil(more)))));
}
