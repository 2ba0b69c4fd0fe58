/** A list in columns; on a phone each row is a card, with the name of the column before each value. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
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
  const table = useRef<HTMLTableElement>(null);
  // Styles show it: a row may be any component, which knows nothing of the columns.
  useLayoutEffect(() => {
    for (const row of table.current?.tBodies[0]?.rows ?? []) for (const [at, cell] of [...row.cells].entries()) cell.dataset["label"] = heads[at] ?? "";
  });
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={label}>
      <table ref={table} class={`list ${kind}`}>
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
