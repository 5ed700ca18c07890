"use strict";
// Keys of the review, and the page brought up to date by itself. All of the page works without this.
(() => {
  const EVERY = 4000;

  const typing = (place) => place && (place.matches("input, select, textarea") || place.isContentEditable);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape" && typing(document.activeElement)) {
      document.activeElement.blur();
      return;
    }
    if (typing(document.activeElement)) return;
    if (event.key === "/") {
      event.preventDefault();
      document.getElementById("q").focus();
      return;
    }
    if (event.key === "?" || event.repeat) return;
    const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!target) return;
    event.preventDefault();
    if (target.matches("button")) target.click();
    else if (target.matches("form")) target.querySelector("input:not([type=hidden])").focus();
    else {
      target.focus();
      if (target.select) target.select();
    }
  });

  // One click is one decision.
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post") return;
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = "yes";
  });

  const busy = () => typing(document.activeElement) || !document.getSelection().isCollapsed || document.querySelector("main details[open]");

  async function refresh() {
    const said = document.getElementById("live");
    try {
      const answer = await fetch("/live", { headers: { accept: "application/json" } });
      if (!answer.ok) throw new Error();
      const { stamp } = await answer.json();
      said.textContent = "";
      if (stamp === document.documentElement.dataset.stamp || busy()) return;
      const page = await fetch(location.href);
      if (!page.ok) return;
      const fresh = new DOMParser().parseFromString(await page.text(), "text/html");
      for (const part of ["main", "nav"]) {
        const old = document.querySelector(part), made = fresh.querySelector(part);
        if (old && made && !busy()) old.replaceChildren(...made.childNodes);
      }
      document.documentElement.dataset.stamp = fresh.documentElement.dataset.stamp;
      said.textContent = "Brought up to date.";
    } catch {
      said.textContent = "The page is not being served any more; what you see may be old.";
    }
  }

  setInterval(() => { if (!document.hidden) refresh(); }, EVERY);
})();
