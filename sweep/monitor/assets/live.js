// Renews a page's blocks: a stream sends those that differ from what this page has, as lines of HTML that the monitor has escaped.
// A page that is not seen has no stream, as a browser opens only a few connections to one host.

const live = document.getElementById("live");
const away = document.getElementById("away");
const lost = "The monitor does not answer. What is shown may be old; this page comes back by itself.";
const comeBack = 5000; // milliseconds until a stream that was refused is tried again

// By name: the element, the hash of its HTML, the HTML where the stream sent it, and what the element is to become, if anything.
const blocks = new Map([...live.querySelectorAll("[data-block]")].map((element) =>
  [element.dataset.block, { element, hash: element.dataset.hash, html: "", next: null }]));

let stream = null;

function connect() {
  if (stream) return;
  const url = new URL(live.dataset.live, location.href);
  url.searchParams.set("have", [...blocks].map(([name, block]) => `${name}=${block.hash}`).join());
  stream = new EventSource(url);
  stream.addEventListener("change", (event) => {
    const told = JSON.parse(event.data);
    say(told.away ? `${told.away} What is shown may be old; this page comes back by itself.` : "");
    if (told.reload || (!told.away && live.dataset.reload !== undefined)) location.reload();
    for (const { name, hash, lines } of told.blocks ?? []) {
      const block = blocks.get(name);
      if (!block) continue;
      const old = block.html.split("\n");
      block.html = lines.flatMap((line) => (typeof line === "string" ? line : old.slice(line[0], line[0] + line[1]))).join("\n");
      block.hash = hash;
      block.next = new DOMParser().parseFromString("<body>" + block.html, "text/html").body;
    }
    renew();
  });
  stream.addEventListener("error", () => {
    say(lost);
    if (stream.readyState !== EventSource.CLOSED) return; // it comes back by itself
    stream = null; // it was refused: the session may be over, or the monitor is behind a proxy that has lost it
    setTimeout(refused, comeBack);
  });
}

async function refused() {
  try {
    const answer = await fetch(location.href, { method: "HEAD", cache: "no-store", redirect: "manual" });
    if (answer.type === "opaqueredirect" || answer.status === 404) {
      location.reload();
      return;
    }
  } catch {
    say(lost);
  }
  if (!document.hidden) connect();
}

function disconnect() {
  if (stream) stream.close();
  stream = null;
}

function say(text) {
  if (away.textContent !== text) away.textContent = text;
  away.hidden = text === "";
}

// busy tells that renewing a block would disturb somebody: who marks text in it, reads above the end of its log, or has
// the pointer or the focus in its table, whose rows would move.
function busy({ element, next }) {
  const selection = getSelection();
  if (selection && !selection.isCollapsed && element.contains(selection.anchorNode)) return true;
  const log = element.querySelector("[data-log]");
  if (log && log.scrollTop + log.clientHeight < log.scrollHeight - 8) return true;
  return (element.matches(":hover") || element.contains(document.activeElement)) && rows(element) !== rows(next);
}

function rows(element) {
  return [...element.querySelectorAll(".tasks tbody > tr")].map((row) => row.dataset.key).join();
}

function toEnd(log) {
  if (log) log.scrollTop = log.scrollHeight;
}

// renew makes the blocks what the stream said, or leaves those that somebody is busy with.
function renew(all = false) {
  for (const block of blocks.values()) {
    if (!block.next) continue;
    const waits = !all && busy(block);
    block.element.classList.toggle("waits", waits);
    if (waits) continue;
    const focused = document.activeElement;
    patch(block.element, block.next);
    block.next = null;
    toEnd(block.element.querySelector("[data-log]"));
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  }
}

// patch makes the children of an element those of another, and keeps the elements that are the same: with them
// what is open, ticked, scrolled or typed. A row keeps its element by its key, wherever it moves.
function patch(into, from) {
  const keyed = new Map([...into.children].filter((child) => child.dataset.key !== undefined).map((child) => [child.dataset.key, child]));
  let at = into.firstChild;
  const removeUntil = (end) => {
    while (at !== end) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  };
  for (const fresh of [...from.childNodes]) {
    const key = fresh.dataset?.key;
    const like = (old) => old.nodeName === fresh.nodeName && old.dataset?.key === key;
    let old = key === undefined ? at : keyed.get(key);
    if (key === undefined && fresh.nodeType === Node.ELEMENT_NODE) {
      while (old && !like(old)) old = old.nextSibling;
      if (old) removeUntil(old);
    }
    if (!old || !like(old)) {
      into.insertBefore(fresh, at);
      continue;
    }
    if (old === at) at = at.nextSibling;
    else into.insertBefore(old, at);
    update(old, fresh);
  }
  removeUntil(null);
}

// update makes an element, or a text, like another.
function update(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  patch(old, fresh);
}

// A filter that cannot be read has the cursor at the place that is wrong.
const wrong = document.querySelector("input[data-from]");
wrong?.setSelectionRange(Number(wrong.dataset.from), Number(wrong.dataset.to));

// A button copies the text of the element that it names, or shows what waits.
document.documentElement.classList.add("scripted");
document.addEventListener("click", async ({ target }) => {
  if (target.dataset?.show !== undefined) renew(true);
  const from = target.dataset?.copy && document.getElementById(target.dataset.copy);
  if (!from) return;
  try {
    await navigator.clipboard.writeText(from.textContent);
    target.textContent = "Copied";
    setTimeout(() => (target.textContent = "Copy"), 2000);
  } catch {
    getSelection().selectAllChildren(from); // the browser does not let a page copy: the user can
  }
});

toEnd(document.querySelector("[data-log]"));
document.addEventListener("scroll", () => renew(), true);
for (const event of ["selectionchange", "mouseout", "focusout"]) document.addEventListener(event, () => setTimeout(() => renew()));
document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
addEventListener("pagehide", disconnect);
addEventListener("pageshow", () => document.hidden || connect());
if (!document.hidden) connect();
