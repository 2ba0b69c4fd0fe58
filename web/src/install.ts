/** Whether the browser offers to install the page, and accepting the offer. */
import { signal } from "@preact/signals";

interface InstallEvent extends Event {
  prompt: () => Promise<unknown>;
}

export const installable = signal<InstallEvent | null>(null);

export function watchInstall(): void {
  addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    installable.value = event as InstallEvent;
  });
  addEventListener("appinstalled", () => (installable.value = null));
}

export async function install(): Promise<void> {
  await installable.value?.prompt();
  installable.value = null;
}
