// Theme, menu and search. Without it, the pages read just as well.
const base = document.currentScript.dataset.base;
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const saved = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
const paint = () => { root.dataset.theme = saved() ?? (dark.matches ? "dark" : "light"); };
paint();

document.addEventListener("DOMContentLoaded", () => {
  const theme = document.querySelector(".theme");
  const label = () => { theme.textContent = root.dataset.theme === "dark" ? "Light" : "Dark"; };
  label();
  dark.addEventListener("change", () => { paint(); label(); });
  theme.addEventListener("click", () => {
    const next = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("theme", next); } catch { /* a private window */ }
    root.dataset.theme = next;
    label();
  });

  const menu = document.querySelector(".menu");
  menu.addEventListener("click", () => {
    const open = document.getElementById("navigation").classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
  });

  const field = document.querySelector("input[type=search]");
  const list = document.querySelector(".results");
  let loading = null;
  const load = () => loading ??= new Promise((done) => {
    const script = document.createElement("script");
    script.src = `${base}index.js`;
    script.onload = script.onerror = () => done(window.sections ?? []);
    document.head.append(script);
  });
  const search = async () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.hidden = words.length === 0;
    const items = found(await load(), words).map(shown);
    list.replaceChildren(...(items.length ? items : [nothing()]));
  };
  const nothing = () => {
    const item = document.createElement("li");
    item.className = "none";
    item.textContent = "Nothing found";
    return item;
  };
  const found = (sections, words) => {
    const weighed = sections.map((section) => [weight(section, words), section]);
    const fitting = weighed.filter(([weight]) => weight > 0).sort(([a], [b]) => b - a).slice(0, 12);
    return fitting.map(([, section]) => [section, words]);
  };
  const weight = ([title, heading, address, text], words) => {
    let sum = 0;
    for (const word of words) {
      const here = 8 * heading.toLowerCase().includes(word) + 6 * (heading.toLowerCase() === word) + 3 * title.toLowerCase().includes(word)
        + text.toLowerCase().includes(word);
      if (!here) return 0;
      sum += here;
    }
    return address.startsWith("decisions/") || address.startsWith("changelog") ? sum / 4 : sum;
  };
  const shown = ([[title, heading, address, text], words]) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = base + address;
    const where = document.createElement("span");
    where.textContent = title === heading ? "" : title;
    const excerpt = document.createElement("span");
    const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
    excerpt.textContent = (at ? "… " : "") + text.slice(at, at + 130);
    link.append(heading, where, excerpt);
    item.append(link);
    return item;
  };
  field.addEventListener("focus", load);
  field.addEventListener("input", search);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement?.tagName ?? "")) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape") {
      field.value = "";
      list.hidden = true;
      field.blur();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !list.hidden) {
      const links = [...list.querySelectorAll("a")];
      const at = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
      (links[at] ?? field).focus();
      event.preventDefault();
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) list.hidden = true;
  });
});
