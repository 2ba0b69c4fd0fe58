/** Images of a conversation: sent with a message, or returned by a tool. If they are gone, how many there were. */
import { useSignal } from "@preact/signals";
import { t } from "../texts";

/** `of` says what they belong to, as in the path of the API. */
export function ShownPictures({ session, of, count }: { session: string | null; of: string; count: number }) {
  const gone = useSignal(false);
  if (gone.value || session === null) return <p class="quiet-text">{t("page.chat.images", { count })}</p>;
  const path = `/api/sessions/${encodeURIComponent(session)}/${of}/pictures`;
  return (
    <div class="shown-pictures">
      {Array.from({ length: count }, (_, at) => (
        <a key={at} href={`${path}/${at}`} target="_blank" rel="noopener">
          <img src={`${path}/${at}`} alt={t("page.chat.image_alt", { number: at + 1 })} loading="lazy" onError={() => (gone.value = true)} />
        </a>
      ))}
    </div>
  );
}
