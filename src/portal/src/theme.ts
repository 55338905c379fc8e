// theme.ts - dark or light: as the system, until the user chooses
const STORED = "openpai-theme";

function isDark(): boolean {
  const chosen = localStorage.getItem(STORED);
  return chosen === null ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
}

function apply(): void {
  document.documentElement.classList.toggle("dark", isDark());
}

export function startTheme(): void {
  apply();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
}

export function switchTheme(): void {
  localStorage.setItem(STORED, isDark() ? "light" : "dark");
  apply();
}
