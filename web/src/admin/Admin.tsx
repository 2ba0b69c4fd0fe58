/** Administration: pages that are not needed every day, loaded on the first visit. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { Later } from "../parts/Later";
import { several } from "../store/machines";
import { ADMIN } from "../store/place";
import { t } from "../texts";

export function Admin({ page }: { page: string }) {
  const nav = useRef<HTMLElement>(null);
  // On a phone not all of them fit.
  useLayoutEffect(() => nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }), [page]);
  return (
    <main class="admin scrolls" tabIndex={-1}>
      <div class="admin-inner">
        <h1>{t("page.admin.title")}</h1>
        <nav class="admin-nav" ref={nav} aria-label={t("page.admin.title")}>
          {ADMIN.filter((each) => each !== "machines" || several.value).map((each) => (
            <a key={each} data-inside href={`/admin/${each}`} aria-current={each === page ? "page" : undefined}>
              {t(`page.admin.page.${each}`)}
            </a>
          ))}
        </nav>
        <Later load={() => import("./pages")}>
          {({ PAGES }) => {
            const Page = PAGES[page];
            return Page && <Page key={page} />;
          }}
        </Later>
      </div>
    </main>
  );
}
