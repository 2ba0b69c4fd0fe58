/** The list of keys. Loaded when it is first opened. */
import { Dialog } from "./parts/Dialog";
import { t } from "./texts";

const KEYS = [
  ["j / k", "move"],
  ["J / K", "sessions"],
  ["u", "needy"],
  ["f", "find"],
  ["a", "allow"],
  ["s / w", "longer"],
  ["d", "deny"],
  ["x", "stop"],
  ["1 … 6", "digits"],
  ["v", "read"],
  ["e", "edit"],
  ["1 – 9", "options"],
  ["0 / o", "own"],
  ["Enter", "send"],
  ["Enter", "send_message"],
  ["Shift Enter", "new_line"],
  ["Ctrl Enter", "send_text"],
  ["/ or @", "complete"],
  ["Up", "recall"],
  ["y / p", "plan"],
  ["g i / g s", "go"],
  ["n", "new"],
  ["c", "message"],
  ["i", "interrupt"],
  ["/", "search"],
  ["Esc", "escape"],
  ["?", "help"],
] as const;

export function KeyList({ close }: { close: () => void }) {
  return (
    <Dialog title={t("page.keyboard.title")} close={close}>
      <table class="key-list">
        <tbody>
          {KEYS.map(([keys, text]) => (
            <tr key={text}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{t(`page.keyboard.${text}`)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
