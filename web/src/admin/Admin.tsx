/** Administration: the pages that are not needed every day. Loaded when somebody goes there. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { ADMIN } from "../store/place";
import { texts as t } from "../texts";

export function Admin({ page }: { page: string }) {
  const loaded = useSignal<Record<string, FunctionComponent> | null>(null);
  useEffect(() => void import("./pages").then(({ PAGES }) => (loaded.value = PAGES)), []);
  const Page = loaded.value?.[page];
  return (
    <main class="admin scrolls" tabIndex={-1}>
      <div class="admin-inner">
        <h1>{t.admin.title}</h1>
        <nav class="admin-nav" aria-label={t.admin.title}>
          {ADMIN.map((each) => (
            <a key={each} data-inside href={`/admin/${each}`} aria-current={each === page ? "page" : undefined}>
              {t.admin.pages[each]}
            </a>
          ))}
        </nav>
        {Page ? <Page key={page} /> : <p class="empty">{t.loading}</p>}
      </div>
    </main>
  );
}
