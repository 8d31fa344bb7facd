// Renews a page's live region: a stream says which version there is, and the region of that version is fetched.
// A page that is not seen has no stream, as a browser opens only a few connections to one host.

const region = document.getElementById("region");
const away = document.getElementById("away");
const soonest = 1000; // milliseconds between two fetches, at least

let stream = null;
let wanted = 0; // the newest version that there is
let shown = 0; // the version of what is seen
let next = 0; // when to fetch again at the soonest
let timer = null;
let fetching = false;

function connect() {
  if (stream) return;
  stream = new EventSource(region.dataset.live);
  stream.addEventListener("change", (event) => {
    const told = JSON.parse(event.data);
    say(told.away ? `${told.away} What is shown may be old; this page comes back by itself.` : "");
    if (told.away) return;
    wanted = told.version;
    plan();
  });
  stream.addEventListener("error", () => {
    if (stream.readyState !== EventSource.CLOSED) {
      say("The monitor does not answer. What is shown may be old; this page comes back by itself.");
      return;
    }
    stream = null; // it was refused: the session may be over, or the monitor is behind a proxy that has lost it
    setTimeout(refused, 5 * soonest);
  });
}

async function refused() {
  try {
    const answer = await fetch(region.dataset.part, { cache: "no-store", redirect: "error" });
    if (answer.status === 401 || answer.status === 404) {
      location.reload();
      return;
    }
  } catch {
    say("The monitor does not answer. What is shown may be old; this page comes back by itself.");
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

function plan() {
  if (timer || fetching || shown >= wanted) return;
  timer = setTimeout(renew, Math.max(0, next - Date.now()));
}

// busy tells that somebody is marking text in the region, which replacing it would undo.
function busy() {
  const selection = getSelection();
  return selection && !selection.isCollapsed && region.contains(selection.anchorNode);
}

async function renew() {
  timer = null;
  if (region.dataset.reload !== undefined) {
    location.reload();
    return;
  }
  if (document.hidden || busy()) {
    next = Date.now() + soonest;
    if (!document.hidden) plan();
    return;
  }
  fetching = true;
  const version = wanted;
  const begun = Date.now();
  try {
    const url = new URL(region.dataset.part, location.href);
    url.searchParams.set("version", version);
    const answer = await fetch(url, { cache: "no-store" });
    if (answer.status === 401 || answer.status === 404) {
      location.reload();
      return;
    }
    if (answer.ok) {
      shown = version;
      replace(await answer.text());
    }
  } catch {
    // the stream says when the monitor is away
  } finally {
    fetching = false;
    next = Date.now() + Math.max(soonest, Date.now() - begun); // what takes long is asked for less often
    plan();
  }
}

// replace puts a new region in the place of the old, and leaves focus and scrolled tables where they were.
function replace(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html").body;
  const focused = region.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const name = (element) => element.getAttribute("aria-labelledby"); // a table may come or go
  const scrolled = new Map([...region.querySelectorAll(".scroll")].map((element) => [name(element), [element.scrollLeft, element === document.activeElement]]));
  region.replaceChildren(...fresh.childNodes);
  region.querySelectorAll(".scroll").forEach((element) => {
    const [left, had] = scrolled.get(name(element)) ?? [0, false];
    element.scrollLeft = left;
    if (had) element.focus({ preventScroll: true });
  });
  if (focused !== undefined) region.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

// A filter that cannot be read has the cursor at the place that is wrong.
const wrong = document.querySelector("input[data-from]");
wrong?.setSelectionRange(Number(wrong.dataset.from), Number(wrong.dataset.to));

document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
addEventListener("pagehide", disconnect);
addEventListener("pageshow", () => document.hidden || connect());
if (!document.hidden) connect();
