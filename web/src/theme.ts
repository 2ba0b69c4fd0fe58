/** Light or dark: the system's choice, unless the person chose. */
import { signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark"] as const;
export const theme = signal(localStorage.getItem("handraise.theme") ?? "system");

export function setTheme(name: string): void {
  theme.value = name;
  localStorage.setItem("handraise.theme", name);
  showTheme();
}

export function showTheme(): void {
  if (theme.value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
}
