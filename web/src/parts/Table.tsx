/** A list in columns; if it is wider than the page, it scrolls by itself. */
import type { ComponentChildren } from "preact";
import { t } from "../texts";

interface TableProps {
  label: string;
  heads: readonly string[];
  /** Whether the last column holds the actions of a row. */
  acts?: boolean;
  kind?: string;
  children: ComponentChildren;
}

export function Table({ label, heads, acts = false, kind = "", children }: TableProps) {
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={label}>
      <table class={`list ${kind}`}>
        <thead>
          <tr>
            {heads.map((each) => (
              <th key={each}>{each}</th>
            ))}
            {acts && (
              <th>
                <span class="unseen">{t("admin.actions")}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
