// Renews a page's blocks: a stream sends those that differ from what this page has, as lines of HTML that the monitor has escaped.
// A page that is not seen has no stream, as a browser opens only a few connections to one host.

const live = document.getElementById("live");
const away = document.getElementById("away");
const lost = "The monitor does not answer. What is shown may be old; this page comes back by itself.";
const comeBack = 5000; // milliseconds until a stream that was refused is tried again

// By name: the element, the hash of its HTML, the HTML where the stream sent it, and whether the element waits to be renewed.
const blocks = new Map([...live.querySelectorAll("[data-block]")].map((element) =>
  [element.dataset.block, { element, hash: element.dataset.hash, html: "", due: false }]));

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
      block.due = true;
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

// busy tells that somebody is marking text in a block, or reads above the end of its log, which renewing it would undo.
function busy(element) {
  const selection = getSelection();
  if (selection && !selection.isCollapsed && element.contains(selection.anchorNode)) return true;
  const log = element.querySelector("[data-log]");
  return log && log.scrollTop + log.clientHeight < log.scrollHeight - 8;
}

function toEnd(log) {
  if (log) log.scrollTop = log.scrollHeight;
}

// renew makes the blocks that are due what the stream said.
function renew() {
  for (const block of blocks.values()) {
    if (!block.due) continue;
    const waits = busy(block.element);
    block.element.classList.toggle("waits", waits);
    if (waits) continue;
    block.due = false;
    const focused = document.activeElement;
    patch(block.element, new DOMParser().parseFromString("<body>" + block.html, "text/html").body);
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

// A button copies the text of the element that it names.
document.documentElement.classList.add("scripted");
document.addEventListener("click", async ({ target }) => {
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
document.addEventListener("scroll", renew, true);
document.addEventListener("selectionchange", renew);
document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
addEventListener("pagehide", disconnect);
addEventListener("pageshow", () => document.hidden || connect());
if (!document.hidden) connect();
